import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import type {
  Channel,
  ChannelClock,
  ChannelContext,
  ChannelDefinition,
} from '../../channels/channel.ts';
import { pause } from '../../channels/kit/backoff.ts';
import type { OwnDatabases } from '../../lib/own-database.ts';
import { makeBackup } from '../../store/backup/make-backup.ts';
import { unpackBackup } from '../../store/backup/restore.ts';
import { openMemoryDatabases, openOwnDatabases } from '../../store/own-databases.ts';
import type { ChannelSubject, FarEnd, Place, Variation } from './far-end.ts';
import { HostEnd } from './host-end.ts';

/** Only a hang reaches it. */
const HANG_MS = 60_000;

/** A connected channel, and the host that it talks to. */
export type Connected = { readonly channel: Channel; readonly host: HostEnd };

/** The bench of one rule: a far end, and channels on one disk, one after the other. */
export class Bench {
  readonly subject: ChannelSubject;
  readonly farEnd: FarEnd;
  readonly clock: QuickClock;
  /** Lines of the channel's log. */
  readonly log: string[] = [];
  readonly #folder: string;
  #dataDir: string;
  #databases: OwnDatabases;
  readonly #connected = new Set<Channel>();

  private constructor(
    subject: ChannelSubject,
    farEnd: FarEnd,
    place: { readonly folder: string; readonly dataDir: string; readonly onDisk: boolean },
  ) {
    this.subject = subject;
    this.farEnd = farEnd;
    this.clock = new QuickClock();
    this.#folder = place.folder;
    this.#dataDir = place.dataDir;
    this.#databases = place.onDisk
      ? openOwnDatabases({ dataDir: place.dataDir, now: Date.now })
      : openMemoryDatabases({ now: Date.now });
  }

  /** Starts a far end of its own. */
  static async open(
    subject: ChannelSubject,
    { onDisk = false }: { readonly onDisk?: boolean } = {},
  ): Promise<Bench> {
    const folder = mkdtempSync(join(tmpdir(), 'claw-channel-'));
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    return new Bench(subject, await subject.start(dataDir), { folder, dataDir, onDisk });
  }

  /** Makes the channel, as a start of the assistant does. */
  create(variation: Variation = 'as set up'): Channel {
    const note = (message: string, data?: unknown) =>
      void this.log.push(`${message} ${JSON.stringify(data ?? {})}`);
    const channel = this.farEnd.create(
      {
        assistantName: 'Andy',
        dataDir: this.#dataDir,
        log: { info: note, warn: note },
        ownerConsole: null,
        openDatabase: this.#databases.of('channel', this.subject.name),
        clock: this.clock,
      },
      variation,
    );
    if (channel === null) throw new Error('The channel stayed silent although it is set up.');
    return channel;
  }

  /** Makes the channel and connects it. */
  async connect(variation: Variation = 'as set up', host = new HostEnd()): Promise<Connected> {
    const channel = this.create(variation);
    this.#connected.add(channel);
    await channel.connect(host);
    return { channel, host };
  }

  /** Connects, and has the friend write first: many far ends take nothing before that. */
  async meet(): Promise<Connected> {
    const connected = await this.connect();
    await this.say('hello', connected.host);
    return connected;
  }

  /** The friend says something in their own chat; resolves when the host has it. */
  async say(text: string, host: HostEnd): Promise<void> {
    await this.farEnd.sendText('friend', 'direct', text);
    await this.until(`"${text.slice(0, 40)}" has arrived`, () =>
      host.messages.some((message) => message.text === text),
    );
  }

  /** Disconnects the channel and connects another on its disk. */
  async restart({ channel }: Connected): Promise<Connected> {
    await this.disconnect(channel);
    return await this.connect();
  }

  /**
   * Saves what the channel keeps, as a backup does while the assistant runs.
   *
   * @returns what puts it back on another disk, once the channel is disconnected
   */
  async backUp(): Promise<() => Promise<void>> {
    const identity = await generateIdentity();
    const recipients = [await identityToRecipient(identity)];
    const { file } = await makeBackup({
      ...{ projectDir: this.#folder, dataDir: this.#dataDir, folder: join(this.#folder, 'kept') },
      ...{ reason: 'manual', lock: { kind: 'recipients', recipients } },
      ...{ isSecret: () => false, now: Date.now() },
    });
    return async () => {
      const projectDir = join(this.#folder, 'restored');
      const dataDir = join(projectDir, 'data');
      const keys = { identities: [identity] };
      await unpackBackup(file, keys, { projectDir, dataDir }, () => true);
      this.#databases.close();
      this.#dataDir = dataDir;
      this.#databases = openOwnDatabases({ dataDir, now: Date.now });
    };
  }

  async disconnect(channel: Channel): Promise<void> {
    this.#connected.delete(channel);
    await channel.disconnect();
  }

  /** Returns the address of a place that the channel has. */
  jidOf(place: Place): string {
    const jid = this.farEnd.jidOf(place);
    if (jid === null) throw new Error(`The channel has no ${place} chat.`);
    return jid;
  }

  /** Returns the markup of what was sent to the friend's own chat after so many messages. */
  sentAfter(count: number): readonly string[] {
    const direct = this.farEnd.sent().filter(({ place }) => place === 'direct');
    return direct.slice(count).map(({ text }) => text);
  }

  /** Waits until it is so, here or at the far end; rejects when it never is. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const end = Date.now() + HANG_MS;
    while (!isSo()) {
      if (Date.now() > end) {
        const log = this.log.slice(-5).join('\n');
        throw new Error(`waited in vain until ${what}; the channel's last lines:\n${log}`);
      }
      await delay(2);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const channel of this.#connected) await channel.disconnect();
      await this.farEnd[Symbol.asyncDispose]();
    } finally {
      this.#databases.close();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}

/** Time that passes fifty times as fast for whoever pauses, and notes how long it should have been. */
class QuickClock implements ChannelClock {
  readonly pauses: number[] = [];
  /** So much this machine's clock is ahead. */
  aheadMs = 0;

  readonly now = (): number => Date.now() + this.aheadMs;

  readonly random = (): number => 0;

  readonly pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    this.pauses.push(ms);
    await pause(Math.min(20, Math.max(1, ms / 50)), signal);
  };
}

/**
 * Makes a channel of its definition, as `.env` would.
 *
 * @throws Error with the settings that cannot be used
 */
export function channelFrom(
  definition: ChannelDefinition,
  settings: Readonly<Record<string, string>>,
  context: ChannelContext,
): Channel | null {
  const opened = definition.open(settings, context);
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return opened.value;
}

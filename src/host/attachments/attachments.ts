import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type {
  Attachment,
  Channel,
  FetchedAttachment,
  InboundMessage,
} from '../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import { MEDIA_DIR, mediaFolder } from '../../sandbox/sandbox.ts';
import type { Group } from '../../store/store.ts';
import type { ClockPort, SettingsPort, StorePort } from '../contracts/ports.ts';
import { plainName } from '../groups/plain-name.ts';

/** A file as an agent finds it. */
export type AgentFile = {
  readonly path: string;
  /** Found in its first bytes, whatever its sender says. */
  readonly type: string;
  readonly sizeBytes: number;
  readonly name: string | null;
};

/** Brings what came with a message to where the group's agent can read it, unless that takes too long. */
export type FetchAttachment = (
  caller: Group,
  messageId: string,
  limitMs?: number,
) => Promise<AgentFile>;

/** The others of the group wait meanwhile. */
const LIMIT_MS = 120_000;

type AttachmentOptions = StorePort &
  SettingsPort &
  ClockPort & {
    readonly channelOf: (jid: string) => Channel | undefined;
  };

/** @returns a function that rejects, in words for the agent, where there is no such file in its chat */
export function attachmentFetcher(options: AttachmentOptions): FetchAttachment {
  const { store, settings, now, channelOf } = options;
  // Each is held in memory as a whole while it comes.
  const inTurn = oneByOne();

  async function fetch(
    { jid, folder }: Group,
    messageId: string,
    limitMs: number,
  ): Promise<AgentFile> {
    if (store.attachments.of(jid, messageId).length === 0) {
      throw new Error(`No message of this chat with the id ${messageId} came with a file.`);
    }
    const channel = channelOf(jid);
    if (channel?.fetchAttachment === undefined) {
      throw new Error('Files of this chat cannot be fetched.');
    }
    const coming = channel.fetchAttachment(jid, messageId);
    const file = await withTimeout(coming, limitMs);
    if (file === TIMED_OUT) {
      // One that comes later has no place any more.
      const drop = ({ path }: FetchedAttachment) => rmSync(path, { force: true });
      coming.then(drop, () => {});
      throw new Error(`The file did not come within ${limitMs / 1_000} s.`);
    }
    if (store.groups.byJid(jid)?.folder !== folder) {
      rmSync(file.path, { force: true });
      throw new Error('This chat is not registered any more.');
    }
    const name = shelve(settings.dataDir, folder, file.path, now());
    pruneMedia(settings.dataDir, now());
    const { mimeType, sizeBytes } = file;
    return { path: `${MEDIA_DIR}/${name}`, type: mimeType, sizeBytes, name: file.name };
  }

  return (caller, messageId, limitMs = LIMIT_MS) =>
    inTurn(caller.folder, () => fetch(caller, messageId, limitMs));
}

/** Runs work of one key piece by piece, in the order in which it was asked for; of several side by side. */
function oneByOne(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    // The result of the one before goes to its own caller.
    const mine = before.catch(() => {}).then(work);
    last.set(key, mine);
    const forget = (): void => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(forget, forget);
    return mine;
  };
}

const DAY_MS = 24 * 60 * 60_000;
/** A file that was not asked for since is fetched again when it is. */
const MEDIA_KEPT_MS = 30 * DAY_MS;
const MAX_MEDIA_BYTES = 1_000_000_000;

/**
 * Puts a fetched file where the group's agent sees it, and takes it from where it was. Only the host
 * writes there: no container can put a link in its way.
 *
 * @returns its name in that folder
 */
function shelve(dataDir: string, folder: string, path: string, now: number): string {
  const shelf = mediaFolder(dataDir, folder);
  mkdirSync(join(shelf, '..'), { recursive: true, mode: 0o700 });
  mkdirSync(shelf, { recursive: true });
  const name = basename(path);
  // The agent is another user; no third user gets past the folder above.
  chmodSync(path, 0o644);
  renameSync(path, join(shelf, name));
  utimesSync(join(shelf, name), now / 1_000, now / 1_000);
  return name;
}

type Limits = { readonly keptMs: number; readonly maxBytes: number };

/** Deletes files that were shelved long ago, and the oldest of what is too much for all groups together. */
export function pruneMedia(
  dataDir: string,
  now: number,
  { keptMs, maxBytes }: Limits = { keptMs: MEDIA_KEPT_MS, maxBytes: MAX_MEDIA_BYTES },
): void {
  const files = namesIn(join(dataDir, 'media'))
    .flatMap((folder) => {
      const shelf = mediaFolder(dataDir, folder);
      return namesIn(shelf).map((name) => join(shelf, name));
    })
    .map((path) => ({ path, stats: statSync(path) }))
    .sort((one, other) => other.stats.mtimeMs - one.stats.mtimeMs);
  let sizeBytes = 0;
  for (const { path, stats } of files) {
    sizeBytes += stats.size;
    if (sizeBytes > maxBytes || now - stats.mtimeMs > keptMs) rmSync(path);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns a line in brackets for each file of a message: its type, the id to ask for it, and where it is from. */
export function fileLines(
  { id, attachments = [] }: Pick<InboundMessage, 'id' | 'attachments'>,
  origin?: string,
): readonly string[] {
  const shown = shownId(id);
  const about = [
    ...(shown === null ? [] : [`id ${shown}`]),
    ...(origin === undefined ? [] : [origin]),
  ];
  return attachments.map((attachment) => `[${[described(attachment), ...about].join(', ')}]`);
}

/** Returns an id for a line of ours; null for one that could pass for words, as some messengers let senders choose them. */
export function shownId(id: string): string | null {
  return /^[\w$:@.+/=~-]{1,200}$/.test(id) ? id : null;
}

function described({ kind, name, seconds, sizeBytes }: Attachment): string {
  // A name that could close the bracket could pass for our own note.
  const plain = plainName(name)?.replaceAll(/[[\]"]/g, '') ?? '';
  const parts = [
    plain === '' ? kind : `${kind} "${plain}"`,
    ...(seconds ? [`${seconds} s`] : []),
    ...(sizeBytes === null ? [] : [sizeInWords(sizeBytes)]),
  ];
  return parts.join(', ');
}

/** Says the size of a file in kB or MB. */
export function sizeInWords(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

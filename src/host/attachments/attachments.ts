import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import type {
  Attachment,
  Channel,
  FetchedAttachment,
  InboundMessage,
} from '../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import { MEDIA_DIR } from '../../sandbox/sandbox.ts';
import type { Group } from '../../store/store.ts';
import type { ClockPort, SettingsPort, StorePort } from '../contracts/ports.ts';
import { plainName } from '../groups/plain-name.ts';
import { pruneMedia, shelve } from './media-shelf.ts';
import type { OwnerFiles } from './owner-files.ts';

/** A file as an agent finds it. */
export type AgentFile = {
  readonly path: string;
  /** Found in its first bytes, whatever its sender says. */
  readonly type: string;
  readonly sizeBytes: number;
  readonly name: string | null;
};

/** Fetches the file of a message to where the group's agent can read it, unless that takes too long. */
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
    readonly ownerFiles: Pick<OwnerFiles, 'find'>;
  };

/** @returns a function that rejects, in words for the agent, where there is no such file in its chat */
export function attachmentFetcher(options: AttachmentOptions): FetchAttachment {
  const { store, settings, now, channelOf, ownerFiles } = options;
  // Each is held in memory as a whole while it comes.
  const inTurn = oneByOne();

  async function fetch(
    { jid, folder }: Group,
    messageId: string,
    limitMs: number,
  ): Promise<AgentFile> {
    const [attachment] = store.attachments.of(jid, messageId);
    if (attachment === undefined) {
      throw new Error(`No message of this chat with the id ${messageId} came with a file.`);
    }
    const own = await ownerFiles.find(folder, messageId);
    if (own !== null) {
      const { mimeType: type, sizeBytes } = own;
      return { path: `${MEDIA_DIR}/${basename(own.path)}`, type, sizeBytes, name: attachment.name };
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

/** Returns a line in brackets for each file of a message: its type, the id to fetch it by, and where it came from. */
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

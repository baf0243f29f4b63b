import { readFile, rm } from 'node:fs/promises';
import type { Channel } from '../../channels/channel.ts';
import { kindOf } from '../../channels/kit/file-kind.ts';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import type { KeptContent, OwnerActs } from '../contracts/owner-acts.ts';
import type { StorePort } from '../contracts/ports.ts';
import type { OutgoingFiles } from '../outbound/outgoing-files.ts';
import type { OwnerFiles } from './owner-files.ts';

/** A page waits no longer for a channel. */
const LIMIT_MS = 25_000;

type Parts = StorePort & {
  readonly outgoingFiles: Pick<OutgoingFiles, 'pathOf'>;
  readonly ownerFiles: Pick<OwnerFiles, 'find'>;
  readonly channelOf: (jid: string) => Channel | undefined;
};

/** Returns the reader for files of a chat's history. */
export function historyFiles(parts: Parts): OwnerActs['file'] {
  const { store, outgoingFiles, ownerFiles, channelOf } = parts;

  async function ofChannel(jid: string, messageId: string): Promise<Uint8Array | null> {
    const coming = channelOf(jid)?.fetchAttachment?.(jid, messageId);
    if (coming === undefined) return null;
    const file = await withTimeout(coming, LIMIT_MS);
    const drop = ({ path }: { readonly path: string }) => rm(path, { force: true });
    if (file === TIMED_OUT) {
      coming.then(drop, () => {});
      throw new Error(`The file did not come within ${LIMIT_MS / 1_000} s.`);
    }
    return await readFile(file.path).finally(() => drop(file));
  }

  return async (jid, kind, seq, number) => {
    const found = store.history.file(jid, kind, seq, number);
    const folder = store.groups.byJid(jid)?.folder;
    if (found === null || folder === undefined) return null;
    if (found.kind === 'answer') {
      const content = await readKept(outgoingFiles.pathOf(found.file));
      return content && contentOf(found.file.name, content);
    }
    // A message has one file. The name of another one must not stand over its content.
    if (number > 0) return null;
    const own = await ownerFiles.find(folder, found.messageId);
    const content = own === null ? await ofChannel(jid, found.messageId) : await readKept(own.path);
    return content && contentOf(found.name ?? 'file', content);
  };
}

function contentOf(name: string, content: Uint8Array): KeptContent {
  return { name, content, mimeType: kindOf(content).mimeType };
}

async function readKept(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch {
    return null; // Deleted, for its age or for the room.
  }
}

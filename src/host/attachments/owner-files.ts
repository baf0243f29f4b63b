import { copyFileSync, mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Attachment, FetchedAttachment } from '../../channels/channel.ts';
import { keepFetched } from '../../channels/kit/fetched-file.ts';
import { headOf, kindOf } from '../../channels/kit/file-kind.ts';
import { mediaFolder } from '../../sandbox/sandbox.ts';
import { PRESS } from '../../store/messages/messages.ts';
import type { ClockPort, SettingsPort } from '../contracts/ports.ts';
import { plainName } from '../groups/plain-name.ts';
import { namesIn, pruneMedia, shelve } from './media-shelf.ts';

/** A file that the owner sends elsewhere than on a channel, such as from a page. */
export type OwnerFile = { readonly name: string; readonly content: Uint8Array };

/** The most that channels take. */
export const MAX_OWNER_FILE_BYTES = 20_000_000;

/** Files that the owner sent from a page. No channel has them, so they are kept beside the fetched ones. */
export interface OwnerFiles {
  /** Keeps the file of a message that is not stored yet. @throws Error, in words, where it is empty or too large */
  keep(folder: string, messageId: string, file: OwnerFile): Attachment;
  /** Finds the file of a message, for as long as it is kept; null for a message of a channel. */
  find(folder: string, messageId: string): Promise<Omit<FetchedAttachment, 'name'> | null>;
  /** Copies it, as a channel would fetch it. */
  copyOf(folder: string, messageId: string): Promise<Omit<FetchedAttachment, 'name'> | null>;
  /** Deletes the file of a message that could not be stored. */
  drop(folder: string, messageId: string): void;
}

export function openOwnerFiles({ settings, now }: SettingsPort & ClockPort): OwnerFiles {
  const { dataDir } = settings;
  // Whatever is there is of a call that ended with its process.
  const workshop = join(dataDir, 'tmp/owner-files');
  rmSync(workshop, { recursive: true, force: true });

  function pathOf(folder: string, messageId: string): string | null {
    if (!messageId.startsWith(PRESS)) return null;
    const shelf = mediaFolder(dataDir, folder);
    const beginning = `${messageId.slice(PRESS.length)}.`;
    const name = namesIn(shelf).find((one) => one.startsWith(beginning));
    return name === undefined ? null : join(shelf, name);
  }

  async function find(folder: string, messageId: string) {
    const path = pathOf(folder, messageId);
    if (path === null) return null;
    // What is asked for stays longer.
    utimesSync(path, now() / 1_000, now() / 1_000);
    const { mimeType } = kindOf(await headOf(path));
    return { path, mimeType, sizeBytes: statSync(path).size };
  }

  return {
    keep(folder, messageId, { name, content }) {
      if (content.length === 0) throw new Error('This file is empty.');
      if (content.length > MAX_OWNER_FILE_BYTES) {
        throw new Error(`A file may have ${MAX_OWNER_FILE_BYTES / 1e6} MB at most.`);
      }
      const { path, mimeType, sizeBytes } = keepFetched(workshop, content, name);
      const ending = path.slice(path.lastIndexOf('.'));
      shelve(dataDir, folder, path, now(), `${messageId.slice(PRESS.length)}${ending}`);
      pruneMedia(dataDir, now());
      return { kind: kindFor(mimeType), mimeType, sizeBytes, name: plainName(name) };
    },
    find,
    async copyOf(folder, messageId) {
      const found = await find(folder, messageId);
      if (found === null) return null;
      mkdirSync(workshop, { recursive: true, mode: 0o700 });
      const path = join(workshop, messageId.slice(PRESS.length));
      copyFileSync(found.path, path);
      return { ...found, path };
    },
    drop(folder, messageId) {
      const path = pathOf(folder, messageId);
      if (path !== null) rmSync(path, { force: true });
    },
  };
}

function kindFor(mimeType: string): Attachment['kind'] {
  const [group] = mimeType.split('/');
  return group === 'image' || group === 'audio' || group === 'video' ? group : 'document';
}

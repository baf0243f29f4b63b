import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removePrivateFolder } from '../protocol/socket-folder.ts';
import { type FarChat, openFarChat, type WorkerParts } from './far-chat.ts';
import { dropOldContents } from './laid-mounts.ts';
import { endMessage, isEndMessage, isFirstRecord, readHead } from './resumable-link.ts';

/** The other machine's end: runs the containers that the home asks for, and does nothing by itself. */
export type FarWorker = {
  /** Takes a message of the home about one container. */
  accept(folder: string, fence: number, message: Buffer): void;
  /** Folders of chats whose files are here. */
  folders(): Promise<readonly string[]>;
  /** Containers that run. */
  running(): number;
  resume(): void;
  /** Ends all containers, such as when the home is another process than before. Their files stay to be fetched. */
  endAll(reason: string): Promise<void>;
  close(): Promise<void>;
};

/** A chat's folder, as the home names it; part of paths here. */
export const FarFolder = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/);

/** Opens a worker; what an earlier one left running was ended by the engine when it was opened. */
export async function openFarWorker(parts: WorkerParts): Promise<FarWorker> {
  const { dir, send, onProgress } = parts;
  await mkdir(join(dir, 'chats'), { recursive: true, mode: 0o700 });
  await mkdir(join(dir, 'contents'), { recursive: true, mode: 0o700 });
  await chmod(dir, 0o711);
  await dropOldContents(join(dir, 'contents'));
  const chats = new Map<string, FarChat>();
  const newest = new Map<string, number>();

  function accept(folder: string, fence: number, message: Buffer): void {
    if (!FarFolder.safeParse(folder).success || readHead(message)?.fence !== fence) return;
    const known = chats.get(folder);
    if (known?.fence === fence) return void known.take(message);
    if (isEndMessage(message)) return;
    const highest = newest.get(folder) ?? 0;
    if (fence <= highest || !isFirstRecord(message)) {
      const reason = fence < highest ? 'it is outdated' : 'the worker knows no such container';
      return void send(folder, fence, endMessage(fence, reason));
    }
    newest.set(folder, fence);
    const before = known?.end('a newer container takes its place') ?? Promise.resolve();
    const chat = openFarChat(parts, { folder, fence, before });
    chats.set(folder, chat);
    void chat.over.then(() => {
      if (chats.get(folder) === chat) chats.delete(folder);
    });
    chat.take(message);
  }

  async function endAll(reason: string): Promise<void> {
    if (chats.size > 0) onProgress(`ends ${chats.size} containers: ${reason}`);
    await Promise.all([...chats.values()].map((chat) => chat.end(reason)));
  }

  return {
    accept,
    folders: () => readdir(join(dir, 'chats')),
    running: () => [...chats.values()].filter(({ isRunning }) => isRunning()).length,
    resume() {
      for (const chat of chats.values()) chat.resume();
    },
    endAll,
    async close() {
      await endAll('the worker ends');
      await removePrivateFolder(dir);
    },
  };
}

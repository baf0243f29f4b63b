import {
  chmod,
  chown,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { Container, Engine, Mount } from '../engines/engine.ts';
import { type AgentUser, giveFolder } from '../mounts/ownership.ts';
import { type ControlRequest, serveControl } from './control-channel.ts';
import { digestOf, FileTree, type Tree, type TreeEntry } from './file-tree.ts';
import {
  endMessage,
  isEndMessage,
  isFirstRecord,
  type MessagePipe,
  ResumableLink,
  readHead,
} from './resumable-link.ts';

/** Kept contents beyond this go, the oldest first, when a worker starts. */
const MAX_KEPT_BYTES = 2 * 1_073_741_824;

export type WorkerParts = {
  /** Runs the containers, as hardened as at home. */
  readonly engine: Engine;
  /** A private folder of the worker's. */
  readonly dir: string;
  readonly user: AgentUser;
  /** Sends a message about one container to the home. */
  readonly send: (folder: string, fence: number, message: Buffer) => void;
  readonly patienceMs: number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
  readonly onProgress: (line: string) => void;
};

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
    close: () => endAll('the worker ends'),
  };
}

type FarChat = {
  readonly fence: number;
  /** Resolves when nothing of it runs any more. */
  readonly over: Promise<void>;
  take(message: Buffer): void;
  isRunning(): boolean;
  resume(): void;
  end(reason: string): Promise<void>;
};

type Laid = {
  readonly target: string;
  readonly isWritable: boolean;
  readonly path: string;
  readonly tree: FileTree;
  readonly files: Tree;
};

function openFarChat(
  parts: WorkerParts,
  { folder, fence, before }: { folder: string; fence: number; before: Promise<void> },
): FarChat {
  const { dir, engine, user, send, patienceMs, onProgress } = parts;
  const contents = join(dir, 'contents');
  const place = join(dir, 'chats', folder);
  const handlers = new Set<(message: Buffer) => void>();
  const pipe: MessagePipe = {
    send: (message) => send(folder, fence, message),
    listen(handler) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
  };
  const over = Promise.withResolvers<void>();
  let control: Duplex | null = null;
  let laid: readonly Laid[] = [];
  let container: Container | null = null;
  let server: Server | null = null;
  let ended: Promise<void> | null = null;
  let stopping: Promise<void> = Promise.resolve();

  const link: ResumableLink = new ResumableLink({
    pipe,
    fence,
    side: 'worker',
    patienceMs,
    elapsed: parts.elapsed,
    onChannel(channel) {
      if (control !== null) return void channel.destroy();
      control = channel;
      tellEnded = serveControl(channel, async (request, body) => {
        await before;
        return await handle(request, body);
      });
    },
    onEnd: (reason) => void end(reason ?? 'it was closed'),
  });
  let tellEnded = (_: string): void => {};

  async function end(reason: string): Promise<void> {
    ended ??= (async () => {
      link.close(reason);
      await stopContainer();
      over.resolve();
    })();
    await ended;
  }

  /** Every call waits for the same end: a worker that leaves sooner would leave a container behind. */
  function stopContainer(): Promise<void> {
    stopping = stopping.then(async () => {
      const running = container;
      container = null;
      await running?.stop();
      await new Promise<void>((resolve) => {
        if (server === null) return resolve();
        server.close(() => resolve());
        server = null;
      });
    });
    return stopping;
  }

  async function handle(
    request: ControlRequest,
    body: Buffer,
  ): Promise<{ value: object; body?: Buffer }> {
    switch (request.op) {
      case 'hello':
        return { value: { kept: await keptMounts(place) } };
      case 'lay':
        laid = await lay(request.mounts);
        return { value: { lacks: await lacking(contents, laid) } };
      case 'bytes':
        if (digestOf(body) !== request.digest) throw new Error('these bytes have another digest');
        await keep(contents, request.digest, body);
        return { value: {} };
      case 'run':
        return { value: { id: await run(request) } };
      case 'scan':
        return { value: { mounts: await Promise.all(request.targets.map(scanned)) } };
      case 'read': {
        const bytes = await readContent(request.digest);
        return bytes === null
          ? { value: { isThere: false } }
          : { value: { isThere: true }, body: bytes };
      }
      case 'change':
        return { value: { done: await change(request) } };
      case 'stop':
        await stopContainer();
        return { value: {} };
      case 'forget':
        await rm(place, { recursive: true, force: true });
        laid = [];
        return { value: {} };
    }
  }

  async function lay(
    mounts: Extract<ControlRequest, { op: 'lay' }>['mounts'],
  ): Promise<readonly Laid[]> {
    await stopContainer();
    await rm(place, { recursive: true, force: true });
    await mkdir(place, { recursive: true });
    const list = mounts.map(({ target, isWritable }) => ({ target, isWritable }));
    await writeFile(join(place, 'mounts.json'), JSON.stringify(list));
    return mounts.map(({ target, isWritable, files }, index) => {
      const path = join(place, String(index));
      return { target, isWritable, path, tree: new FileTree(path), files: new Map(files) };
    });
  }

  async function run({
    limits,
    timeZone,
  }: Extract<ControlRequest, { op: 'run' }>): Promise<string> {
    for (const mount of laid) await layOut(contents, mount, user);
    const socketDir = join(place, 'run');
    await mkdir(socketDir, { recursive: true });
    server = await listen(socketDir, user, () => link.open());
    const mounts: Mount[] = laid.map(({ target, isWritable, path }) => ({
      source: path,
      target,
      isWritable,
    }));
    mounts.push({ source: socketDir, target: '/run/claw', isWritable: false });
    const started = await engine.startContainer({
      folder,
      mounts,
      limits,
      endpoint: { kind: 'socket' },
      ...(timeZone === null ? {} : { timeZone }),
    });
    if (link.isOver) {
      await started.stop();
      throw new Error('it was ended meanwhile');
    }
    container = started;
    void started.ended.then((reason) => tellEnded(reason));
    onProgress(`runs ${folder} under number ${fence}`);
    return started.id.slice(0, 12);
  }

  async function scanned(target: string) {
    const mount = laid.find((one) => one.target === target);
    if (mount === undefined) return { files: null };
    return { files: [...(await mount.tree.scan())] };
  }

  /** Contents are those that were kept, and those that files have now. */
  async function readContent(digest: string): Promise<Buffer | null> {
    const kept = await readFile(join(contents, digest)).catch(() => null);
    if (kept !== null) return kept;
    for (const { tree } of laid.length > 0 ? laid : await keptTrees(place)) {
      for (const [path, entry] of await tree.scan()) {
        if (entry.kind !== 'file' || entry.digest !== digest) continue;
        const bytes = await tree.read(path, digest);
        if (bytes === null) continue;
        // The home may ask for it once more, as what both agreed on.
        await keep(contents, digest, bytes);
        return bytes;
      }
    }
    return null;
  }

  async function change({
    mount,
    changes,
  }: Extract<ControlRequest, { op: 'change' }>): Promise<boolean[]> {
    const into = laid[mount];
    if (into === undefined) throw new Error('there is no such mount');
    const done: boolean[] = [];
    for (const one of changes) {
      const { wanted } = one;
      const bytes =
        wanted?.kind === 'file'
          ? await readFile(join(contents, wanted.digest)).catch(() => null)
          : null;
      const isReady = wanted?.kind !== 'file' || bytes !== null;
      done.push(isReady && (await into.tree.change(one, bytes, rootUser(user))));
    }
    return done;
  }

  return {
    fence,
    over: over.promise,
    take(message) {
      for (const handler of [...handlers]) handler(message);
    },
    isRunning: () => container !== null,
    resume: () => link.resume(),
    end,
  };
}

/** Only root gives files to another user. */
function rootUser(user: AgentUser): AgentUser | null {
  return process.getuid?.() === 0 ? user : null;
}

const MountList = z.array(z.object({ target: z.string(), isWritable: z.boolean() }));

/** The mounts of an earlier container of this chat, in the order in which they were laid. */
async function keptTrees(place: string): Promise<readonly Omit<Laid, 'files'>[]> {
  const text = await readFile(join(place, 'mounts.json'), 'utf8').catch(() => '[]');
  return MountList.parse(JSON.parse(text)).map((mount, index) => {
    const path = join(place, String(index));
    return { ...mount, path, tree: new FileTree(path) };
  });
}

async function keptMounts(
  place: string,
): Promise<readonly { target: string; files: [string, TreeEntry][] }[] | null> {
  const writable = (await keptTrees(place)).filter(({ isWritable }) => isWritable);
  if (writable.length === 0) return null;
  return await Promise.all(
    writable.map(async ({ target, tree }) => ({ target, files: [...(await tree.scan())] })),
  );
}

async function lacking(contents: string, laid: readonly Laid[]): Promise<string[]> {
  const wanted = new Set<string>();
  for (const { files } of laid) {
    for (const entry of files.values()) if (entry.kind === 'file') wanted.add(entry.digest);
  }
  const kept = new Set(await readdir(contents));
  return [...wanted].filter((digest) => !kept.has(digest));
}

async function keep(contents: string, digest: string, bytes: Buffer): Promise<void> {
  const path = join(contents, digest);
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, bytes, { mode: 0o644 });
  await rename(unfinished, path);
}

/** Puts the files of a mount where the container will see them. Contents that are missing come with the first sync. */
async function layOut(
  contents: string,
  { path, isWritable, tree, files }: Laid,
  user: AgentUser,
): Promise<void> {
  if (files.has('')) {
    const entry = files.get('');
    if (entry?.kind === 'file') await copyFile(join(contents, entry.digest), path);
    return;
  }
  await mkdir(path, { recursive: true });
  for (const [name, wanted] of files) {
    const bytes =
      wanted.kind === 'file'
        ? await readFile(join(contents, wanted.digest)).catch(() => null)
        : null;
    if (wanted.kind === 'file' && bytes === null) continue;
    await tree.change({ path: name, expected: null, wanted }, bytes, null);
  }
  if (isWritable) await giveFolder(path, user);
}

/** Listens as the host does at home; each connection of the agent becomes a channel of the link. */
async function listen(
  socketDir: string,
  user: AgentUser,
  openChannel: () => Duplex,
): Promise<Server> {
  const path = join(socketDir, 'host.sock');
  const server = createServer((socket) => {
    const channel = openChannel();
    socket.on('error', () => channel.destroy());
    channel.on('error', () => socket.destroy());
    socket.once('close', () => channel.destroy());
    channel.once('close', () => socket.destroy());
    socket.pipe(channel).pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
  return server;
}

async function dropOldContents(contents: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(contents)).map(async (name) => {
      const { size, atimeMs } = await stat(join(contents, name));
      return { name, size, atimeMs };
    }),
  );
  let keptBytes = 0;
  for (const { name, size } of found.toSorted((one, other) => other.atimeMs - one.atimeMs)) {
    keptBytes += size;
    if (keptBytes > MAX_KEPT_BYTES || name.includes('.')) await rm(join(contents, name));
  }
}

import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type Duplex, Transform } from 'node:stream';
import type { Container, Engine, Mount } from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import { makeSocketFolder, socketPath } from '../protocol/socket-folder.ts';
import {
  type ControlReply,
  type ControlRequest,
  MAX_SHOWN_BYTES,
  serveControl,
} from './control-channel.ts';
import { digestOf, FileTree, isSameEntry, type Tree, type TreeEntry } from './file-tree.ts';
import { keep, keptMounts, type LaidMount, lacking, layOut } from './laid-mounts.ts';
import { type MessagePipe, ResumableLink } from './resumable-link.ts';

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
  /** The clock by which files here are stamped, in milliseconds. */
  readonly now: () => number;
  readonly onProgress: (line: string) => void;
};

/** A container here and its link to the home. */
export type FarChat = {
  readonly fence: number;
  /** Resolves when nothing of it runs any more. */
  readonly over: Promise<void>;
  take(message: Buffer): void;
  isRunning(): boolean;
  resume(): void;
  end(reason: string): Promise<void>;
};

type Begin = Extract<ControlRequest, { op: 'begin' }>;

/** Opens the worker's end of one container. It does what the home asks, one request after the other. */
export function openFarChat(
  parts: WorkerParts,
  { folder, fence, before }: { folder: string; fence: number; before: Promise<void> },
): FarChat {
  const { dir, engine, user, send, patienceMs, onProgress } = parts;
  const contents = join(dir, 'contents');
  const place = join(dir, 'chats', folder);
  const handlers = new Set<(message: Buffer) => unknown>();
  const pipe: MessagePipe = {
    send: (message) => send(folder, fence, message),
    listen(handler) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
  };
  const over = Promise.withResolvers<void>();
  let control: Duplex | null = null;
  let places: readonly LaidMount[] = [];
  let begun: Begin | null = null;
  let container: Container | null = null;
  let server: Server | null = null;
  let socketDir: string | null = null;
  let ended: Promise<void> | null = null;
  let stopping: Promise<void> = Promise.resolve();
  let last: Promise<unknown> = before;
  /** A look that waits for the agent to hand over. */
  let standing: Look | null = null;
  /** The agent has handed over since the last look. */
  let isHandedOver = false;

  const link: ResumableLink = new ResumableLink({
    pipe,
    fence,
    side: 'worker',
    patienceMs,
    elapsed: parts.elapsed,
    onChannel(channel) {
      if (control !== null) return void channel.destroy();
      control = channel;
      tellEnded = serveControl(channel, (request, body) =>
        request.op === 'look' ? look(request.waits) : inTurn(() => handle(request, body)),
      );
    },
    onEnd: (reason) => void end(reason ?? 'it was closed'),
  });
  let tellEnded = (_: string): void => {};

  async function end(reason: string): Promise<void> {
    ended ??= (async () => {
      link.close(reason);
      await stopContainer();
      // A request that is at work on the chat's folder would meet the files of the next container.
      await last.catch(() => {});
      // It may have started something meanwhile.
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
      if (socketDir !== null) await rm(socketDir, { recursive: true, force: true });
    });
    return stopping;
  }

  /** One request after the other, in the order in which they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(() => {
      if (link.isOver) throw new Error('it was ended meanwhile');
      return work();
    });
    last = done.catch(() => {});
    return done;
  }

  async function handle(
    request: Exclude<ControlRequest, { op: 'look' }>,
    body: Buffer,
  ): Promise<ControlReply> {
    switch (request.op) {
      case 'hello':
        return { value: { kept: await keptFiles() } };
      case 'begin': {
        const kept = await keptFiles();
        if (kept !== null) return { value: { kept } };
        begun = request;
        await lay(request.mounts);
        const lacks = await lacking(contents, places);
        return { value: lacks.length > 0 ? { lacks } : await run() };
      }
      case 'bytes':
        if (digestOf(body) !== request.digest) throw new Error('these bytes have another digest');
        await keep(contents, request.digest, body);
        return { value: {} };
      case 'run':
        return { value: await run() };
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
        return { value: await forget(request.keeps === true) };
    }
  }

  /** The files that an earlier container has left; null where none has. */
  async function keptFiles(): Promise<readonly { target: string; files: Entries }[] | null> {
    const kept = (await keptMounts(place, parts.now)).filter(({ isWritable }) => isWritable);
    for (const one of kept) one.files = await one.tree.scan();
    if (kept.length === 0) return null;
    places = kept;
    return kept.map(({ target, files }) => ({ target, files: [...files] }));
  }

  async function lay(mounts: Begin['mounts']): Promise<void> {
    await stopContainer();
    await rm(place, { recursive: true, force: true });
    await mkdir(place, { recursive: true });
    const list = mounts.map(({ target, isWritable }) => ({ target, isWritable }));
    await writeFile(join(place, 'mounts.json'), JSON.stringify(list));
    places = mounts.map(({ target, isWritable, files }, index) => {
      const path = join(place, String(index));
      return {
        target,
        isWritable,
        path,
        tree: new FileTree(path, parts.now),
        files: new Map(files),
      };
    });
  }

  async function run(): Promise<{ id: string; absent: [number, string][] }> {
    if (begun === null) throw new Error('nothing was begun');
    const { limits, timeZone } = begun;
    // Files are laid out once, in a place where nobody has written yet: a link there would lead out of it.
    begun = null;
    const absent: [number, string][] = [];
    for (const [index, one] of places.entries()) {
      const missing = await layOut(contents, one, user);
      absent.push(...missing.map((path): [number, string] => [index, path]));
      one.files = new Map([...one.files].filter(([path]) => !missing.includes(path)));
    }
    socketDir = await makeSocketFolder({ dataDir: dir, folder, socketDir: null, user });
    server = await listen(socketDir, user, { openChannel: () => link.open(), handOver });
    const mounts: Mount[] = places.map(({ target, isWritable, path }) => ({
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
    // Without an engine this machine is of no use: the home runs the turn again, as if the machine were gone.
    void started.ended.then((reason) =>
      started.isEngineLost ? end('its engine is gone') : tellEnded(reason),
    );
    onProgress(`runs ${folder} under number ${fence}`);
    return { id: started.id.slice(0, 12), absent };
  }

  /** The agent ends its turn, or calls a tool of the home: its words wait until the home knows its files. */
  async function handOver(): Promise<void> {
    const asked = standing;
    if (asked === null) {
      isHandedOver = true;
      return;
    }
    asked.due.resolve();
    await asked.answered.promise;
  }

  async function look(waits: boolean): Promise<ControlReply> {
    const own: Look = { due: Promise.withResolvers(), answered: Promise.withResolvers() };
    standing?.due.resolve();
    if (waits && !isHandedOver) {
      standing = own;
      await own.due.promise;
      if (standing === own) standing = null;
    }
    try {
      const shown = await inTurn(async () => {
        isHandedOver = false;
        return await changesSinceLook();
      });
      return {
        ...shown.reply,
        sent() {
          own.answered.resolve();
          // The home may ask for them once more, as what both agreed on; nobody waits for it now.
          void inTurn(async () => {
            for (const bytes of shown.contents) await keep(contents, digestOf(bytes), bytes);
          }).catch((error: unknown) => onProgress(`contents could not be kept: ${String(error)}`));
        },
      };
    } catch (error) {
      own.answered.resolve();
      throw error;
    }
  }

  async function changesSinceLook(): Promise<{ reply: ControlReply; contents: readonly Buffer[] }> {
    const changes: [number, string, TreeEntry | null][] = [];
    const shown: Buffer[] = [];
    let shownBytes = 0;
    const seen = new Map<LaidMount, Tree>();
    for (const [index, one] of places.entries()) {
      if (!one.isWritable) continue;
      const files = await one.tree.scan();
      seen.set(one, files);
      for (const [path, entry] of files) {
        if (isSameEntry(entry, one.files.get(path))) continue;
        changes.push([index, path, entry]);
        if (entry.kind !== 'file' || shown.length >= MAX_SHOWN) continue;
        const bytes = await one.tree.read(path, entry.digest, MAX_SHOWN_BYTES - shownBytes);
        if (bytes === null) continue;
        shown.push(bytes);
        shownBytes += bytes.length;
      }
      for (const path of one.files.keys()) {
        if (!files.has(path)) changes.push([index, path, null]);
      }
    }
    for (const [one, files] of seen) one.files = files;
    const value = { changes, contents: shown.map(({ length }) => length) };
    return { reply: { value, body: Buffer.concat(shown) }, contents: shown };
  }

  /** Contents are those that were kept, and those that files have now. */
  async function readContent(digest: string): Promise<Buffer | null> {
    const kept = await readFile(join(contents, digest)).catch(() => null);
    if (kept !== null) return kept;
    for (const { tree, files } of places) {
      for (const [path, entry] of files) {
        if (entry.kind !== 'file' || entry.digest !== digest) continue;
        const bytes = await tree.read(path, digest);
        if (bytes === null) continue;
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
    const into = places[mount];
    if (into === undefined || begun !== null) throw new Error('there is no such mount');
    const done: boolean[] = [];
    const files = new Map(into.files);
    for (const one of changes) {
      const { path, wanted } = one;
      const bytes =
        wanted?.kind === 'file'
          ? await readFile(join(contents, wanted.digest)).catch(() => null)
          : null;
      const isReady = wanted?.kind !== 'file' || bytes !== null;
      const isMade = isReady && (await into.tree.change(one, bytes, rootUser(user)));
      done.push(isMade);
      if (isMade && wanted !== null) files.set(path, wanted);
      if (isMade && wanted === null) files.delete(path);
    }
    into.files = files;
    return done;
  }

  /** The home has all that can be sent. The rest is put aside, where the next container does not meet it. */
  async function forget(keeps: boolean): Promise<{ left: string[]; in: string }> {
    const left: string[] = [];
    for (const { target, isWritable, path, tree } of places) {
      if (!isWritable || !existsSync(path)) continue;
      await tree.scan();
      left.push(...tree.leftOut.map((one) => `${target}/${one}`.slice(0, 1_100)));
    }
    const aside = join(dir, 'left', `${folder}-${fence}`);
    const isKept = left.length > 0 || (keeps && existsSync(place));
    if (!isKept) await rm(place, { recursive: true, force: true });
    else {
      await mkdir(join(dir, 'left'), { recursive: true });
      await rename(place, aside);
    }
    places = [];
    return { left, in: isKept ? aside : '' };
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

type Entries = [string, TreeEntry][];

/** A question about the files here, and its way to the home. */
type Look = {
  readonly due: PromiseWithResolvers<void>;
  readonly answered: PromiseWithResolvers<void>;
};

/** The most contents of one answer. */
const MAX_SHOWN = 1_000;

/** Listens as the host does at home; each connection of the agent becomes a channel of the link. */
async function listen(
  socketDir: string,
  user: AgentUser,
  { openChannel, handOver }: { openChannel: () => Duplex; handOver: () => Promise<void> },
): Promise<Server> {
  const path = socketPath(socketDir);
  const server = createServer((socket) => {
    const channel = openChannel();
    socket.on('error', () => channel.destroy());
    channel.on('error', () => socket.destroy());
    socket.once('close', () => channel.destroy());
    channel.once('close', () => socket.destroy());
    channel.pipe(socket);
    socket.pipe(afterHandOver(handOver)).pipe(channel);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
  return server;
}

/** A frame that hands over, wherever the stream is cut. What only looks like one costs a look. */
const HANDS_OVER = /"type"\s*:\s*"(done|failed|tool_call)"/;
const LONGEST_CUT = 64;

/** Passes what the agent says on, after the files where it hands over. */
function afterHandOver(handOver: () => Promise<void>): Transform {
  let end = '';
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const text = end + chunk.toString('latin1');
      if (HANDS_OVER.test(text)) {
        end = '';
        return void handOver().then(() => done(null, chunk));
      }
      end = text.slice(-LONGEST_CUT);
      done(null, chunk);
    },
  });
}

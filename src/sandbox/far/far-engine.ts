import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { withTimeout } from '../../lib/timeout.ts';
import { type Container, type ContainerSpec, type Engine, MachineLost } from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import {
  type AgreedFiles,
  ChatFiles,
  type FileConflict,
  type FilesLimit,
  type SharedMount,
  type SyncWay,
} from './chat-files.ts';
import { type ControlAnswers, ControlClient } from './control-channel.ts';
import { FarFilesOfLink, Sending } from './far-files.ts';
import { FileTree, type Tree } from './file-tree.ts';
import { type MessagePipe, ResumableLink } from './resumable-link.ts';

/** The folder of the host's socket, in every kind of container; a worker has its own there. */
export const SOCKET_TARGET = '/run/claw';
/** Extra folders of the owner's are on this machine, and are not sent. */
const EXTRA_TARGET = '/workspace/extra/';
/** A machine from which nothing comes for so long takes no new container. */
const START_PATIENCE_MS = 30_000;
const STOP_TIMEOUT_MS = 8_000;
/** Files of an earlier container are taken over once; whoever shows some again tells nonsense. */
const BEGINNINGS = 2;

/** Files of both sides that do not go together, and files that stay on the other machine. */
export type FileNews = {
  /** Counts, and the first of each. */
  readonly conflicts: { readonly count: number; readonly first: readonly FileConflict[] };
  readonly refused: { readonly count: number; readonly first: readonly string[] };
  /** The folder there that has what was refused; null while the container still has it. */
  readonly place: string | null;
};

/** Up to this many files are named; beyond that only their number. */
const MAX_TOLD = 5;

export type FarEngineParts = {
  /** The machine's name, as the owner says it. */
  readonly machine: string;
  readonly description: string;
  /** Opens the way for messages about one container. */
  readonly openPipe: (folder: string, fence: number) => MessagePipe;
  /** Returns a number from the store, higher than any before for this folder. */
  readonly nextFence: (folder: string) => number;
  /** The files of a chat that both sides last agreed on. */
  readonly agreedFiles: (folder: string) => AgreedFiles & { forget(): void };
  readonly user: AgentUser | null;
  /** How long a link may be down before its container counts as lost. */
  readonly patienceMs: number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
  /** The clock by which files here are stamped, in milliseconds. */
  readonly now: () => number;
  /** The limit for a chat's files at home, if it runs on this machine. */
  readonly filesLimit: FilesLimit;
  /** Called with news about a chat's files, after a turn or the end of a container; not called if there is none. */
  readonly onFileNews: (folder: string, news: FileNews) => void;
  /** Files that no message can hold stay on the other machine, in a folder there. */
  readonly onLeft: (folder: string, paths: readonly string[], place: string) => void;
  readonly onProgress: (line: string) => void;
};

/** An engine on another machine. Its links are told when the way there works again. */
export type FarEngine = Engine & {
  /** The way to the machine works again, as its owner knows: links ask at once for what was lost. */
  resume(): void;
  /** Brings home what a container wrote there that ended without its files having been fetched. */
  collect(folder: string, mounts: ContainerSpec['mounts']): Promise<void>;
  /** Ends all links, after the machine was taken out. */
  close(reason: string): void;
};

/** Runs containers on another machine, through a worker there. */
export function farEngine(parts: FarEngineParts): FarEngine {
  const links = new Set<ResumableLink>();
  const trees = new Map<string, FileTree>();
  const treeOf = (source: string): FileTree => {
    const tree = trees.get(source) ?? new FileTree(source, parts.now);
    trees.set(source, tree);
    return tree;
  };
  const open = (spec: Pick<ContainerSpec, 'folder' | 'mounts'>, onEnd: (reason: string) => void) =>
    openFarContainer({ ...parts, links, treeOf }, spec, onEnd);
  return {
    name: `far:${parts.machine}`,
    machine: parts.machine,
    description: parts.description,
    startContainer: (spec) => start(parts, open, spec),
    async collect(folder, mounts) {
      const container = open({ folder, mounts }, () => {});
      try {
        await inTime(container.collect(), parts.elapsed);
      } finally {
        container.close();
      }
    },
    resume() {
      for (const link of links) link.resume();
    },
    close(reason) {
      for (const link of links) link.close(reason);
    },
  };
}

type FarContainer = ReturnType<typeof openFarContainer>;

async function start(
  parts: FarEngineParts,
  open: (spec: ContainerSpec, onEnd: (reason: string) => void) => FarContainer,
  spec: ContainerSpec,
): Promise<Container> {
  const ended = Promise.withResolvers<string>();
  let isLost = false;
  let isStopping = false;
  const container = open(spec, (reason) => {
    isLost = !isStopping;
    ended.resolve(`${parts.machine}: ${reason}`);
  });
  container.onAgentEnded = ended.resolve;
  let id: string;
  try {
    id = await inTime(container.run(spec));
  } catch (error) {
    container.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new MachineLost(`${parts.machine} could not start a container: ${why}`);
  }
  let stopped: Promise<void> | null = null;
  return {
    id: `${parts.machine}-${id}`,
    ended: ended.promise,
    get isMachineLost() {
      return isLost;
    },
    sync: (way) => container.sync(way),
    endTurn: () => container.endTurn(),
    stop() {
      isStopping = true;
      stopped ??= withTimeout(container.stop(), STOP_TIMEOUT_MS).then(() => {
        container.close();
        ended.resolve('it was stopped');
      });
      return stopped;
    },
  };

  /** A machine that says nothing is given up sooner than one in the middle of a turn. */
  function inTime<T>(work: Promise<T>): Promise<T> {
    return inTimeOf(work, () => container.link.silentMs);
  }
}

function inTime<T>(work: Promise<T>, elapsed: () => number): Promise<T> {
  const began = elapsed();
  return inTimeOf(work, () => elapsed() - began);
}

function inTimeOf<T>(work: Promise<T>, silentMs: () => number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (silentMs() > START_PATIENCE_MS) reject(new Error('it does not answer'));
    }, 500).unref();
  });
  return Promise.race([work, late]).finally(() => clearInterval(timer));
}

type FarContainerParts = FarEngineParts & {
  readonly links: Set<ResumableLink>;
  readonly treeOf: (source: string) => FileTree;
};

/** One container on the other machine, from its link to its files. */
function openFarContainer(
  parts: FarContainerParts,
  { folder, mounts }: Pick<ContainerSpec, 'folder' | 'mounts'>,
  onEnd: (reason: string) => void,
) {
  const { machine, user, patienceMs, links, treeOf } = parts;
  const fence = parts.nextFence(folder);
  const socketDir = mounts.find(({ target }) => target === SOCKET_TARGET)?.source ?? null;
  const agreed = parts.agreedFiles(folder);
  const shared = mounts.filter(
    ({ target }) => target !== SOCKET_TARGET && !target.startsWith(EXTRA_TARGET),
  );
  for (const { target } of mounts.filter((one) => one.target.startsWith(EXTRA_TARGET))) {
    parts.onProgress(`${target} is on this machine, and the chat ${folder} runs on ${machine}`);
  }
  const conflicts: FileConflict[] = [];
  /** Files that had no room, and those of them that the owner knows of. */
  const refused = new Set<string>();
  let toldRefused = '';
  const tell = (place: string | null = null): void => {
    const first = [...refused].slice(0, MAX_TOLD);
    const all = `${refused.size} ${first}`;
    const isKnown = refused.size === 0 || (all === toldRefused && place === null);
    if (conflicts.length === 0 && isKnown) return;
    const told = conflicts.splice(0);
    toldRefused = all;
    parts.onFileNews(folder, {
      conflicts: { count: told.length, first: told.slice(0, MAX_TOLD) },
      refused: isKnown ? NONE : { count: refused.size, first },
      place,
    });
  };
  const files = new ChatFiles({
    machine,
    mounts: shared,
    agreed,
    user,
    treeOf,
    limit: parts.filesLimit,
    onConflict: (conflict) => void conflicts.push(conflict),
    onRefused: (path) => void refused.add(path),
  });
  const link: ResumableLink = new ResumableLink({
    pipe: parts.openPipe(folder, fence),
    fence,
    side: 'home',
    patienceMs,
    elapsed: parts.elapsed,
    onChannel: (channel) => bridge(channel, socketDir),
    onEnd(reason) {
      links.delete(link);
      onEnd(reason ?? 'it was closed');
    },
  });
  links.add(link);
  const hooks = { onAgentEnded: (_: string): void => {} };
  const control = new ControlClient(link.open(), (reason) => hooks.onAgentEnded(reason));
  const far = new FarFilesOfLink(control, shared);
  let told = '';

  async function takeOver(kept: Kept): Promise<void> {
    const trees = new Map(kept.map(({ target, files: list }) => [target, new Map(list)]));
    await files.sync(
      {
        look: async () => trees,
        known: () => trees,
        read: (digest) => far.read(digest),
        change: async () => [],
      },
      'take',
    );
    await forget();
  }

  async function forget(): Promise<void> {
    const keeps = refused.size > 0;
    const { left, in: place } = await control.ask({ op: 'forget', ...(keeps ? { keeps } : {}) });
    agreed.forget();
    tell(keeps ? place : null);
    if (left.length > 0) parts.onLeft(folder, left, place);
  }

  return {
    link,
    set onAgentEnded(handler: (reason: string) => void) {
      hooks.onAgentEnded = handler;
    },
    /** Never rejects: what could not be compared now is the next time. */
    async sync(way: SyncWay): Promise<void> {
      try {
        refused.clear();
        await files.sync(far, way);
        if (way === 'give') far.expectHandover();
        told = '';
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (link.isOver || why === told) return;
        told = why;
        parts.onProgress(`the files of ${folder} and those on ${machine} differ for now: ${why}`);
      }
    },
    /** An answer does not wait for files that take long; what becomes of them is told together, when it is known. */
    endTurn: () => void files.settled.then(() => tell()),
    /** Takes over what an earlier container left there. */
    async collect(): Promise<void> {
      const { kept } = await control.ask({ op: 'hello' });
      if (kept !== null) await takeOver(kept);
    },
    async run(spec: ContainerSpec): Promise<string> {
      const { limits, timeZone = null } = spec;
      for (let attempt = 1; attempt <= BEGINNINGS; attempt += 1) {
        const trees = await files.homeTrees();
        const begun = await control.ask({
          op: 'begin',
          mounts: trees.map(({ target, isWritable, tree }) => ({
            target,
            isWritable,
            files: [...tree],
          })),
          limits,
          timeZone,
        });
        if ('kept' in begun) {
          await takeOver(begun.kept);
          continue;
        }
        const { id, absent } = 'lacks' in begun ? await bring(begun.lacks, trees) : begun;
        const gone = new Set(absent.map(([mount, path]) => `${mount}/${path}`));
        const there = trees.map(({ target, tree }, index) => ({
          target,
          tree: new Map([...tree].filter(([path]) => !gone.has(`${index}/${path}`))),
        }));
        far.begin(there);
        files.agree(there);
        return id;
      }
      throw new Error('it has files of an earlier container, again and again');
    },
    /** Never rejects: what could not be fetched stays there, and is fetched when the machine tells of it. */
    async stop(): Promise<void> {
      if (link.isOver) return;
      try {
        await control.ask({ op: 'stop' });
        refused.clear();
        await files.sync(far, 'take');
        await forget();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        parts.onProgress(`files of the chat ${folder} are still on ${machine}: ${why}`);
      }
    },
    close() {
      tell();
      link.close();
    },
  };

  /** Sends the contents that are missing there, and has the container run. */
  async function bring(
    lacks: readonly string[],
    trees: readonly (SharedMount & { readonly tree: Tree })[],
  ): Promise<ControlAnswers['run']> {
    const places = new Map<string, { target: string; path: string }>();
    for (const { target, tree } of trees) {
      for (const [path, entry] of tree) {
        if (entry.kind === 'file') places.set(entry.digest, { target, path });
      }
    }
    const sending = new Sending();
    for (const digest of lacks) {
      const place = places.get(digest);
      const bytes = place && (await files.readHome(place.target, place.path, digest));
      // It was changed since: the worker names it as absent, and the next `sync` sends it.
      if (bytes) await sending.add(bytes.length, control.ask({ op: 'bytes', digest }, bytes));
    }
    // Both are waited for at once: a link that ends fails both.
    const [ran] = await Promise.all([control.ask({ op: 'run' }), sending.end()]);
    return ran;
  }
}

const NONE = { count: 0, first: [] };

type Kept = NonNullable<ControlAnswers['hello']['kept']>;

/** Joins a connection of the agent there with the host's socket of its group here. */
function bridge(channel: Duplex, socketDir: string | null): void {
  if (socketDir === null) return void channel.destroy();
  const socket = connect(join(socketDir, 'host.sock'));
  socket.on('error', () => channel.destroy());
  channel.on('error', () => socket.destroy());
  socket.once('close', () => channel.destroy());
  channel.once('close', () => socket.destroy());
  channel.pipe(socket).pipe(channel);
}

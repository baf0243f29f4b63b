import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { withTimeout } from '../../lib/timeout.ts';
import { type Container, type ContainerSpec, type Engine, MachineLost } from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import { type AgreedFiles, ChatFiles, type FarFiles, type FileConflict } from './chat-files.ts';
import { ControlClient } from './control-channel.ts';
import type { Tree } from './file-tree.ts';
import { type MessagePipe, ResumableLink } from './resumable-link.ts';

/** Where the socket of the host is, in every kind of container; a worker has one of its own there. */
export const SOCKET_TARGET = '/run/claw';
/** Extra folders of the owner's are on this machine, and are not sent. */
const EXTRA_TARGET = '/workspace/extra/';
/** A machine from which nothing comes for so long takes no new container. */
const START_PATIENCE_MS = 30_000;
const STOP_TIMEOUT_MS = 8_000;

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
  readonly onConflict: (folder: string, conflict: FileConflict) => void;
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
  const open = (spec: Pick<ContainerSpec, 'folder' | 'mounts'>, onEnd: (reason: string) => void) =>
    openFarContainer(parts, links, spec, onEnd);
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
    await inTime(container.collect());
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
    sync: () => container.sync(),
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

/** One container on the other machine, from its link to its files. */
function openFarContainer(
  parts: FarEngineParts,
  links: Set<ResumableLink>,
  { folder, mounts }: Pick<ContainerSpec, 'folder' | 'mounts'>,
  onEnd: (reason: string) => void,
) {
  const { machine, user, patienceMs, onConflict } = parts;
  const fence = parts.nextFence(folder);
  const socketDir = mounts.find(({ target }) => target === SOCKET_TARGET)?.source ?? null;
  const agreed = parts.agreedFiles(folder);
  const shared = mounts.filter(
    ({ target }) => target !== SOCKET_TARGET && !target.startsWith(EXTRA_TARGET),
  );
  for (const { target } of mounts.filter((one) => one.target.startsWith(EXTRA_TARGET))) {
    parts.onProgress(`${target} is on this machine, and the chat ${folder} runs on ${machine}`);
  }
  const files = new ChatFiles({
    machine,
    mounts: shared,
    agreed,
    user,
    onConflict: (conflict) => onConflict(folder, conflict),
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
  const far = farFiles(control, (target) => shared.findIndex((one) => one.target === target));
  return {
    link,
    set onAgentEnded(handler: (reason: string) => void) {
      hooks.onAgentEnded = handler;
    },
    sync: () => files.sync(far),
    /** Takes over what an earlier container left there. */
    async collect(): Promise<void> {
      const { kept } = await control.ask({ op: 'hello' });
      if (kept === null) return;
      const trees = new Map(kept.map(({ target, files: list }) => [target, new Map(list)]));
      const left: FarFiles = {
        ...far,
        scan: async (target) => trees.get(target) ?? null,
      };
      await files.sync(left, { isTakeOnly: true });
      await control.ask({ op: 'forget' });
      agreed.forget();
    },
    async run(spec: ContainerSpec): Promise<string> {
      const trees = await files.homeTrees();
      const { lacks } = await control.ask({
        op: 'lay',
        mounts: trees.map(({ target, isWritable, tree }) => ({
          target,
          isWritable,
          files: [...tree],
        })),
      });
      const places = new Map<string, { target: string; path: string }>();
      for (const { target, tree } of trees) {
        for (const [path, entry] of tree) {
          if (entry.kind === 'file') places.set(entry.digest, { target, path });
        }
      }
      for (const digest of lacks) {
        const place = places.get(digest);
        const bytes = place && (await files.readHome(place.target, place.path, digest));
        // It was changed since, which the first `sync` sees.
        if (bytes) await control.ask({ op: 'bytes', digest }, bytes);
      }
      const { limits, timeZone = null } = spec;
      const { id } = await control.ask({ op: 'run', limits, timeZone });
      files.agree(trees);
      return id;
    },
    async stop(): Promise<void> {
      if (link.isOver) return;
      await control.ask({ op: 'stop' });
      await files.sync(far, { isTakeOnly: true });
      await control.ask({ op: 'forget' });
      agreed.forget();
    },
    close: () => link.close(),
  };
}

/** The way to the files there, by questions about one mount at a time. */
function farFiles(control: ControlClient, indexOf: (target: string) => number): FarFiles {
  return {
    async scan(target): Promise<Tree | null> {
      const { mounts } = await control.ask({ op: 'scan', targets: [target] });
      const list = mounts[0]?.files ?? null;
      return list === null ? null : new Map(list);
    },
    async read(digest) {
      const { body, isThere } = await control.ask({ op: 'read', digest });
      return isThere ? body : null;
    },
    async change(target, changes, bytes) {
      if (changes.length === 0) return [];
      for (const [index, { wanted }] of changes.entries()) {
        const own = bytes[index];
        if (wanted?.kind === 'file' && own) {
          await control.ask({ op: 'bytes', digest: wanted.digest }, own);
        }
      }
      const mount = indexOf(target);
      return (await control.ask({ op: 'change', mount, changes: [...changes] })).done;
    },
  };
}

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

import { z } from 'zod';
import { jsonWithin } from '../../../lib/bounded-json.ts';
import { EngineName } from '../../../lib/far/far-state.ts';
import { FarFolder } from '../../far/worker.ts';

export const PROTOCOL = 1;
/** Both sides say so often that they are there. */
export const ALIVE_MS = 3_000;
/** A machine that has said nothing for so long is away. */
export const AWAY_MS = 12_000;

const Alive = z.object({
  protocol: z.literal(PROTOCOL),
  /** Another worker than before has another. */
  boot: z.string().min(1).max(64),
  description: z.string().max(200),
  abilities: z.array(z.string().max(64)).max(32),
  capacity: z.number().int().min(1).max(1_000),
  running: z.number().int().min(0).max(1_000),
  /** Agents ran in a better engine, which is not there, and the owner has not said yet that this one will do. */
  waits: z
    .object({ engine: EngineName, reason: z.string().max(300) })
    .nullable()
    .default(null),
  /** Chats whose files are there. */
  folders: z.array(FarFolder).max(1_000),
});

/** A worker says that it is there, and what it has. */
export type Alive = z.output<typeof Alive>;

/** Returns null for what is no such message, or of another version. */
export function readAlive(message: Buffer): Alive | null {
  return Alive.safeParse(jsonWithin(message)).data ?? null;
}

/** Names in subjects, between dots. */
export const subjects = {
  up: (machine: string, folder: string, fence: number | '*') =>
    `far.up.${machine}.chat.${folder}.${fence}`,
  down: (machine: string, folder: string, fence: number) =>
    `far.down.${machine}.chat.${folder}.${fence}`,
  alive: (machine: string) => `far.up.${machine}.alive`,
  /** It is being stopped, and takes nothing any more. */
  leaving: (machine: string) => `far.up.${machine}.leaving`,
  home: (machine: string) => `far.down.${machine}.home`,
  /** The engine that the owner lets a machine use which waits for that word. */
  sandbox: (machine: string) => `far.down.${machine}.sandbox`,
};

/** The container that a message is about. */
export type ChatSubject = {
  readonly machine: string;
  readonly folder: string;
  readonly fence: number;
};

/** Reads `far.<way>.<machine>.chat.<folder>.<fence>`; null for any other. */
export function chatOf(subject: string): ChatSubject | null {
  const [, , machine, kind, folder, fence, ...rest] = subject.split('.');
  if (kind !== 'chat' || machine === undefined || folder === undefined || rest.length > 0) {
    return null;
  }
  const number = Number(fence);
  return Number.isSafeInteger(number) && number > 0 ? { machine, folder, fence: number } : null;
}

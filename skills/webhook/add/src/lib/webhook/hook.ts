import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** A name that an address can end with. */
export const HOOK_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/**
 * The proof of a sender: by GitHub's signature over the body; by a signature over id, time and body, as Standard
 * Webhooks has it; or by a token that it sends along.
 */
export const SENDERS = ['github', 'signed', 'token'] as const;

/** The effect of a hook: a turn of the group's agent, or a message in its chat as it is. */
export const ACTIONS = ['turn', 'message'] as const;

const HookEntry = z.object({
  group: z.string().min(1),
  from: z.enum(SENDERS),
  does: z.enum(ACTIONS),
  secret: z.string().min(16),
  text: z.string().optional(),
});

/** One hook of the owner's. */
export type Hook = {
  readonly name: string;
  /** The folder of the group. */
  readonly group: string;
  readonly from: (typeof SENDERS)[number];
  readonly does: (typeof ACTIONS)[number];
  readonly secret: string;
  /** The owner's words: what the agent should do, or the text of the message; `{{a.b}}` is what was sent there. Null for the usual. */
  readonly text: string | null;
};

/** The owner's hooks, or one sentence about why they cannot be read. */
export type Hooks =
  | { readonly ok: true; readonly hooks: readonly Hook[] }
  | { readonly ok: false; readonly problem: string };

const HookFile = z.looseObject({ hooks: z.record(z.string().regex(HOOK_NAME), HookEntry) });

/** The file with the owner's hooks and their secrets, which only its owner can read. */
export function hooksFile(dataDir: string): string {
  return join(dataDir, 'webhook', 'hooks.json');
}

/** Reads the owner's hooks, by name. No file is no hooks. */
export function readHooks(dataDir: string): Hooks {
  const path = hooksFile(dataDir);
  const text = read(path);
  if (text === null) return { ok: true, hooks: [] };
  const parsed = HookFile.safeParse(jsonIn(text));
  // The reasons of zod and of the JSON parser quote the file, which holds secrets.
  if (!parsed.success) return { ok: false, problem: `${path} is not a list of hooks any more.` };
  const hooks = Object.entries(parsed.data.hooks)
    .map(([name, { text: words = null, ...hook }]) => ({ name, ...hook, text: words }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return { ok: true, hooks };
}

/** Reads where the assistant's HTTP server listens; null where it never did. */
export function readServerAddress(dataDir: string): string | null {
  return read(join(dataDir, 'http', 'address'))?.trim() ?? null;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // There is none.
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // Told as what is not a list.
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { ClawError } from '../errors.ts';

/** What the engine needs to know of a codebase, from its `claw.config.yaml`. */
export type CodebaseConfig = {
  /** Globs of what is not part of the core, beside what never is. */
  readonly exclude: readonly string[];
  /** Globs of what no skill may touch, beside what the engine itself protects. */
  readonly protected: readonly string[];
  /** Commands that prove a tree. */
  readonly check: readonly string[];
  /** The command that test files are handed to. */
  readonly test: string;
};

/** Where it stands, below the project's root. */
export const CONFIG_PATH = 'claw.config.yaml';

const DEFAULTS = { exclude: [], protected: [], check: [], test: 'node --test' };

const Schema = z.strictObject({
  exclude: z.array(z.string().min(1)).default(DEFAULTS.exclude),
  protected: z.array(z.string().min(1)).default(DEFAULTS.protected),
  check: z.array(z.string().min(1)).default(DEFAULTS.check),
  test: z.string().min(1).default(DEFAULTS.test),
});

/**
 * Reads `claw.config.yaml` in the project's root; a codebase without one gets the defaults.
 *
 * @throws ClawError CONFIG_INVALID with the place inside the file
 */
export function readConfig(root: string): CodebaseConfig {
  return parseConfig(readOptional(join(root, CONFIG_PATH)));
}

/**
 * The same for a text that is not on disk yet; null for a codebase without one.
 *
 * @throws ClawError CONFIG_INVALID
 */
export function parseConfig(text: string | null): CodebaseConfig {
  if (text === null) return DEFAULTS;
  const document = parseDocument(text);
  const [syntax] = document.errors;
  if (syntax) {
    throw new ClawError('CONFIG_INVALID', `claw.config.yaml: ${syntax.message}`, {
      path: 'claw.config.yaml',
      cause: syntax,
    });
  }
  const parsed = Schema.safeParse(contentOf(document) ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = ['claw.config.yaml', ...(issue?.path ?? [])].join(':');
  throw new ClawError('CONFIG_INVALID', `${place}: ${issue?.message}. Mend it and try again.`, {
    path: place,
  });
}

function contentOf(document: Document): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    const message = `claw.config.yaml: ${cause instanceof Error ? cause.message : 'unreadable'}.`;
    throw new ClawError('CONFIG_INVALID', message, { path: 'claw.config.yaml', cause });
  }
}

function readOptional(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

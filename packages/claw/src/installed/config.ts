import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { ClawError } from '../errors.ts';
import type { OwnStructured } from '../structured/structured-kind.ts';

/** A codebase's configuration, from its `claw.config.yaml`. */
export type CodebaseConfig = {
  /** Globs of what is not part of the core, beside what never is. */
  readonly exclude: readonly string[];
  /** Globs of what no skill may touch, beside what the engine itself protects. */
  readonly protected: readonly string[];
  /** Folders of the owner's own: neither core nor edit, and changed only by their word for each path. */
  readonly private: readonly string[];
  /** Commands that prove a tree. */
  readonly check: readonly string[];
  /** The command that test files are handed to. */
  readonly test: string;
  /** The codebase's own tests that prove a change of the files they concern; null for none. */
  readonly related: RelatedTests | null;
  /** Globs of files that checks leave in the tree's copy for the next one, such as a compiler's notes. */
  readonly keep: readonly string[];
  /** Checks leave nothing that tests need, so both may run at the same time. */
  readonly parallel: boolean;
  /** Structured files of the codebase's own; see {@link readOwnStructured} for those that count. */
  readonly structured: OwnStructured;
  /** The limits of each command of a proof. */
  readonly limits: ProofLimits;
};

/** The way to find and run tests of the codebase itself. */
export type RelatedTests = {
  /** Globs of the test files. */
  readonly tests: readonly string[];
  /** Globs of those that cannot run in a copy of the tree. */
  readonly except: readonly string[];
  /** The command that they are handed to, or, where it says `{changed}`, that changed files are. */
  readonly command: string;
  /** The limit of seconds for all of them together. */
  readonly seconds: number;
  /** The limit of files that run, nearest first. */
  readonly most: number;
};

/** The limits of each command in a proof: of it and everything that it starts. */
export type ProofLimits = {
  /** Seconds without output and without CPU time, after which it counts as hung. */
  readonly silence_seconds: number;
  /** Seconds of CPU time, for each skill whose tests it runs. */
  readonly cpu_seconds: number;
  readonly memory_mb: number;
  /** Processes and threads at the same time. */
  readonly processes: number;
  /** The disk space that it may fill. */
  readonly disk_mb: number;
};

export const DEFAULT_LIMITS: ProofLimits = {
  silence_seconds: 120,
  cpu_seconds: 600,
  memory_mb: 4096,
  processes: 2000,
  disk_mb: 4096,
};

/** The path of the configuration, below the project's root. */
export const CONFIG_PATH = 'claw.config.yaml';

const DEFAULTS: CodebaseConfig = {
  exclude: [],
  protected: [],
  private: [],
  check: [],
  test: 'node --test',
  related: null,
  keep: [],
  parallel: false,
  structured: {},
  limits: DEFAULT_LIMITS,
};

const Related = z.strictObject({
  tests: z.array(z.string().min(1)).min(1),
  except: z.array(z.string().min(1)).default([]),
  command: z.string().min(1).optional(),
  seconds: z.int().min(1).max(3600).default(60),
  most: z.int().min(1).default(40),
});

const DAY_SECONDS = 86_400;
const TERABYTE_MB = 1024 * 1024;

const Limits = z.strictObject({
  silence_seconds: z.int().min(1).max(DAY_SECONDS).default(DEFAULT_LIMITS.silence_seconds),
  cpu_seconds: z.int().min(1).max(DAY_SECONDS).default(DEFAULT_LIMITS.cpu_seconds),
  memory_mb: z.int().min(64).max(TERABYTE_MB).default(DEFAULT_LIMITS.memory_mb),
  processes: z.int().min(16).max(100_000).default(DEFAULT_LIMITS.processes),
  disk_mb: z.int().min(1).max(TERABYTE_MB).default(DEFAULT_LIMITS.disk_mb),
});

/** Below the tree, and none of what is never in a view. */
const TreePath = z
  .string()
  .regex(
    /^(?!\.git\/|\.claw\/|node_modules\/)[^/\\]+(\/[^/\\]+)*$/,
    'is not a path of a file in the tree',
  )
  .refine(
    (path) => !path.split('/').some((part) => part === '..' || part === '.'),
    'leaves the tree',
  );
const List = z.array(z.string().min(1)).readonly();

const Schema = z.strictObject({
  exclude: List.default(DEFAULTS.exclude),
  protected: List.default(DEFAULTS.protected),
  private: z.array(TreePath).default([...DEFAULTS.private]),
  check: List.default(DEFAULTS.check),
  test: z.string().min(1).default(DEFAULTS.test),
  related: Related.optional(),
  keep: z.array(TreePath).default([]),
  parallel: z.boolean().default(DEFAULTS.parallel),
  structured: z
    .record(TreePath, z.enum(['container']))
    .refine((files) => Object.keys(files).length < 2, 'names more than one list of an image')
    .default({}),
  limits: Limits.default(DEFAULT_LIMITS),
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
 * Returns the same for a text that is not on disk yet; null for a codebase without one.
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
  if (parsed.success) {
    const { related, ...rest } = parsed.data;
    return {
      ...rest,
      related: related ? { ...related, command: related.command ?? rest.test } : null,
    };
  }
  const [issue] = parsed.error.issues;
  const place = ['claw.config.yaml', ...(issue?.path ?? [])].join(':');
  throw new ClawError('CONFIG_INVALID', `${place}: ${issue?.message}. Fix it and try again.`, {
    path: place,
  });
}

/**
 * Returns the structured files of a release's own. The release names them, and not the disk: what layers come
 * to depends on the release, on them and on nothing else.
 *
 * @param release the release's file at a path; one that cannot be read names none
 */
export function readOwnStructured(release: (path: string) => TreeFile | null): OwnStructured {
  try {
    const text = release(CONFIG_PATH)?.bytes.toString('utf8') ?? '';
    // Most codebases have none, and parsing takes time.
    if (!/^structured:/m.test(text)) return {};
    return parseConfig(text).structured;
  } catch {
    return {}; // The one on disk is what is told about.
  }
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

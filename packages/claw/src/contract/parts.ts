import { z } from 'zod';

// Parts that results of several verbs have in common.

/** Kinds of changes of a file. */
export const ChangeKind = z.enum(['add', 'modify', 'delete', 'rename']);

/** Ends of a verb. */
export const Outcome = z.enum(['done', 'nothing', 'blocked', 'refused', 'failed', 'locked']);

/** One changed file of the project, as commands report it. */
export const Change = z.object({ path: z.string(), kind: ChangeKind, cause: z.string() });

/** A file that the owner edited. */
export const Edit = z.object({ path: z.string(), kind: z.enum(['add', 'modify', 'delete']) });

/** A commit of somebody's, by its message. */
const LoggedCommit = z.object({
  commit: z.string(),
  subject: z.string(),
  /** Its message says that it breaks something. */
  isBreaking: z.boolean(),
});

/** A stretch of a history, merges left out: how many commits, and those that are named, breaking ones first. */
export const CommitList = z.object({
  count: z.int(),
  breaking: z.int(),
  shown: z.array(LoggedCommit),
});

/** Two sides of a conflict in canonical order. */
export const Sides = z.tuple([z.string(), z.string()]);

/** Kinds of conflicts. */
export const ConflictKind = z.enum(['content', 'add-add', 'modify-delete', 'binary', 'structured']);

/** A verb with its arguments, as the owner said it. */
export const Said = z.object({ verb: z.string(), arguments: z.array(z.string()) });

/** The origin of a core. */
export const CoreOrigin = z.enum(['tag', 'commit', 'folder', 'disk']);

/** A decision for people: its origin, and the change that it makes of ours, or the value. */
export const ShownDecision = z.object({
  origin: z.string(),
  /** Of a structured conflict alone. */
  value: z.unknown(),
  patch: z.string().nullable(),
});

/** An edit, or a part of one, that no package took; it stays the owner's. */
export const Left = z.object({
  path: z.string(),
  /** Keys of a structured file, such as `scripts.start`; none where the file as such stays. */
  what: z.array(z.string()),
  why: z.string(),
});

/** A file of a package that waits for its author's words. */
export const Unwritten = z.object({
  path: z.string(),
  /** Sections that still hold the words of the template; empty for a test that is a beginning. */
  sections: z.array(z.string()),
});

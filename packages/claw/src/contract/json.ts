import { z } from 'zod';

// The one object that `--json` prints, and the parts that the data of several verbs share.

/** Kinds of changes of a file. */
export const ChangeKind = z.enum(['add', 'modify', 'delete', 'rename']);

/** Ends of a verb. */
export const Outcome = z.enum(['done', 'nothing', 'blocked', 'refused', 'failed', 'locked']);

/** One changed file of the project, as commands report it. */
export const Change = z.object({ path: z.string(), kind: ChangeKind, cause: z.string() });

/** One changed file; `patch` is what `git apply` takes. */
export const FileDiff = z.object({
  path: z.string(),
  kind: ChangeKind,
  patch: z.string(),
  added: z.int(),
  removed: z.int(),
});

/** A file that the owner edited. */
export const Edit = z.object({ path: z.string(), kind: z.enum(['add', 'modify', 'delete']) });

/** A commit of somebody's, by its message. */
const LoggedCommit = z.object({
  commit: z.string(),
  subject: z.string(),
  /** Its message says that it breaks something. */
  isBreaking: z.boolean(),
});

/** A part of a history without merges: the number of commits, and those that are named, breaking ones first. */
export const CommitList = z.object({
  count: z.int(),
  breaking: z.int(),
  shown: z.array(LoggedCommit),
});

/** Two sides of a conflict in canonical order. */
export const Sides = z.tuple([z.string(), z.string()]);

/** Kinds of conflicts. */
export const ConflictKind = z.enum(['content', 'add-add', 'modify-delete', 'binary', 'structured']);

/** A verb with its arguments, as the owner typed it. Also the data of OPERATION_PENDING: the waiting operation. */
export const VerbCall = z.object({ verb: z.string(), arguments: z.array(z.string()) });

/** The origin of a core. */
export const CoreOrigin = z.enum(['tag', 'commit', 'folder', 'disk']);

/** A decision for people: its origin, and the change that it makes to ours, or the value. */
export const ShownDecision = z.object({
  origin: z.string(),
  /** The value; only for a structured conflict. */
  value: z.unknown(),
  patch: z.string().nullable(),
});

/** An edit, or a part of one, that no package took and that stays the owner's. */
export const LeftoverEdit = z.object({
  path: z.string(),
  /** Keys of a structured file, such as `scripts.start`; none where the file as such stays. */
  what: z.array(z.string()),
  why: z.string(),
});

/** A file of a package that waits for its author's words. */
export const UnwrittenPart = z.object({
  path: z.string(),
  /** Sections that still hold the words of the template; empty for a test that is a beginning. */
  sections: z.array(z.string()),
});

/** A conflict as `--json` prints it: its open hunks as people read them. */
export const ConflictJson = z.object({
  path: z.string(),
  kind: ConflictKind,
  layers: Sides,
  reason: z.string(),
  hunks: z.array(z.object({ base: z.string(), ours: z.string(), theirs: z.string() })),
  /** Paths to which a release may have moved the missing file. */
  candidates: z.array(z.string()),
});

/** The one object that `--json` prints, with every exit code; `data` follows the schema of its verb. */
export const ResultJson = z.object({
  ok: z.boolean(),
  verb: z.string(),
  outcome: Outcome,
  data: z.unknown(),
  changes: z.array(Change),
  conflicts: z.array(ConflictJson),
  warnings: z.array(z.string()),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      path: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
    })
    .nullable(),
});

// Facts of errors that a program goes on with; an error may have others.

/** Data of CONSENT_NEEDED: paths to name with `--allow`. */
export const ConsentNeeded = z.object({ paths: z.array(z.string()) });

/** Data of SKILL_NOT_FOUND: names similar to the given one. */
export const SkillNotFound = z.object({ nearest: z.array(z.string()) });

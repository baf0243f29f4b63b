import { z } from 'zod';
import { ERROR_CODES } from '../errors.ts';
import {
  ChangeKind,
  ConflictKind,
  CoreOrigin,
  Edit,
  FileDiff,
  ShownDecision,
  Sides,
  VerbCall,
} from './json.ts';

// What the results of verbs hold that only look.

/** The core below the layers. */
const InstalledCore = z.object({
  version: z.string().nullable(),
  commit: z.string().nullable(),
  from: CoreOrigin,
  digest: z.string(),
  /** No `init` or `update` of the owner's named it. */
  assumed: z.boolean(),
  /** It came by `update`. */
  isUpdated: z.boolean(),
  /** Packages that the release brought, with the digests of their folders. */
  skills: z.record(z.string(), z.string()),
  moves: z.array(
    z.object({ since: z.string().nullable(), paths: z.record(z.string(), z.string()) }),
  ),
});

/** An applied skill or a customisation. */
const InstalledLayer = z.object({
  name: z.string(),
  kind: z.enum(['skill', 'customisation']),
  version: z.string(),
  source: z.string(),
  installed: z.string(),
  /** The tree would be the same without it. */
  changesNothing: z.boolean(),
});

/** The operation that waits for decisions. */
const WaitingOperation = z.object({
  verb: z.string(),
  arguments: z.array(z.string()),
  options: z.record(z.string(), z.string().nullable()),
  cwd: z.string(),
  allow: z.array(z.string()),
  state: z.string().nullable(),
  conflicts: z.array(
    z.object({
      path: z.string(),
      kind: z.string(),
      layers: z.array(z.string()),
      reason: z.string(),
    }),
  ),
});

/** The result of `claw status`. */
export const StatusData = z.object({
  initialised: z.boolean(),
  /** The composition's name; null before the first command. */
  state: z.string().nullable(),
  core: InstalledCore.nullable(),
  /** The release that the first command would take, where nothing is installed yet. */
  release: z
    .object({ version: z.string().nullable(), commit: z.string().nullable(), from: CoreOrigin })
    .optional(),
  layers: z.array(InstalledLayer),
  edits: z.array(Edit),
  /** npm packages that a command passed over, until they are installed. */
  lackingPackages: z.array(z.string()).optional(),
  pending: WaitingOperation.nullable(),
});

/** An applied layer. */
const AppliedLayer = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  source: z.string(),
  commit: z.string().optional(),
  kind: z.literal('customisation').optional(),
});

/** A package in `skills/`. */
const AvailableSkill = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  applied: z.boolean(),
});

/** The result of `claw list`. */
export const AppliedData = z.array(AppliedLayer);

/** The result of `claw list --available`. */
export const AvailableData = z.array(AvailableSkill);

/** Both. */
export const ListData = z.union([AvailableData, AppliedData]);

/** The result of `claw show`. */
export const ShowData = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  /** The version that is in the code; null where the skill is not in. */
  applied: z.string().nullable(),
  source: z.string(),
  coreVersion: z.string(),
  needs: z.array(z.object({ name: z.string(), range: z.string() })),
  conflicts: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), kind: ChangeKind })),
  /** npm packages with their version ranges. */
  packages: z.array(z.string()),
  settings: z.array(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      isSecret: z.boolean(),
      isOptional: z.boolean(),
    }),
  ),
});

/** A command that `undo` can take back. */
const UndoableCommand = z.object({
  id: z.string(),
  /** ISO 8601. */
  time: z.string(),
  verb: z.string(),
  /** The command with its arguments. */
  summary: z.string(),
  /** The skills whose packages it brought, replaced or took out. */
  skills: z.array(z.string()),
  /** The files of the project that it changed. */
  files: z.array(z.object({ path: z.string(), kind: ChangeKind })),
});

/** The result of `claw log`, newest first: each `undo` takes the first one back. */
export const LogData = z.array(UndoableCommand);

/** Lines of a file that differ from what was published, 1-based and inclusive. */
const Difference = z.object({
  path: z.string(),
  owner: z.string(),
  kind: z.enum(['add', 'modify', 'delete']),
  lines: z.array(z.tuple([z.int(), z.int()])),
  /** Other differences: the ends of otherwise equal lines, the right to execute. */
  form: z.array(z.enum(['line-ends', 'mode'])),
  /** Owners of the lines that the edit replaces, takes out or is inserted between. */
  touches: z.array(z.string()),
});

/** The result of `claw verify`. */
export const VerifyData = z.object({
  clean: z.boolean(),
  edits: z.array(Difference),
  /** Files that this engine would compose otherwise than was published. */
  recomposed: z.array(z.string()),
  /** Files of `.claw/` that are not what `state.yaml` pins. */
  damaged: z.array(z.string()),
});

/** An owner of lines. */
const LineOwner = z.object({
  owner: z.string(),
  kind: z.enum(['core', 'skill', 'customisation', 'resolution', 'edit']),
  version: z.string().nullable().optional(),
  description: z.string().optional(),
  /** The recording, by its key. */
  key: z.string().optional(),
  /** The two layers between which it decided; or the skills that declare a line together. */
  layers: z.array(z.string()).optional(),
  /** The author of the decision: `owner`, or a model. */
  origin: z.string().nullable().optional(),
});

/** Lines of a file on disk that have one owner; numbers are 1-based and inclusive. */
const OwnedLines = LineOwner.extend({
  from: z.int(),
  to: z.int(),
  /** The lines on disk; empty for a binary file. */
  text: z.string(),
});

/** The result of `claw why`; `gone` is about a file that does not exist. */
export const WhyData = z.object({
  path: z.string(),
  ranges: z.array(OwnedLines),
  binary: z.boolean(),
  gone: LineOwner.extend({ movedTo: z.string().nullable() }).nullable(),
});

/** The result of `claw diff`. */
export const DiffData = z.object({ layer: z.string(), files: z.array(FileDiff) });

/** One thing that was looked at: whether it is well, in a sentence, and the next step. */
const Finding = z.object({
  area: z.string(),
  ok: z.boolean(),
  message: z.string(),
  /** A good finding may have one as well. */
  advice: z.string().nullable(),
});

/** The result of `claw doctor`. */
export const DoctorData = z.object({ findings: z.array(Finding) });

/** Rules that would resolve a conflict; `both` and `reversed` take the lines of both sides, in either order. */
export const Rule = z.enum(['ours', 'theirs', 'both', 'reversed', 'insertion', 'words', 'moved']);

/** A numbered way to resolve a conflict: the first is number 1. */
const ResolutionOption = z.object({ rule: Rule, label: z.string() });

/** The same at one place, with what it makes there, as a file of answers has it in `hunks`. */
const PlaceOption = ResolutionOption.extend({
  pick: z.union([
    z.enum(['ours', 'theirs', 'ours-theirs', 'theirs-ours']),
    z.object({ text: z.string() }),
  ]),
});

/** A place in conflict, as people read it. */
const ConflictPlace = z.object({
  /** The line of ours at which it begins. */
  line: z.int(),
  /** The declaration that it stands in. */
  declaration: z.string().nullable(),
  layers: Sides,
  /** Lines above and below that make it whole. */
  above: z.string(),
  below: z.string(),
  base: z.string(),
  ours: z.string(),
  theirs: z.string(),
  ways: z.array(PlaceOption),
});

/** Ways to resolve one conflict, and the decision on it. */
const ConflictDetail = z.object({
  path: z.string(),
  decided: z.boolean(),
  decision: ShownDecision.nullable(),
  /** False where only the disk can be changed. */
  decidable: z.boolean(),
  /** The words by which `resolve --take` takes the side of ours, and that of theirs. */
  takes: z.array(z.string()),
  /** The places in conflict, in order; none where there are no lines. */
  places: z.array(ConflictPlace),
  /** The ways to resolve all of it by one rule. */
  ways: z.array(ResolutionOption),
  /** Sizes in bytes; null for an absent side. */
  sizes: z.object({ ours: z.int().nullable(), theirs: z.int().nullable() }),
  /** The text to finish, below `.claw/pending/`. */
  text: z.string().nullable(),
  /** Each side's value at the key of a structured file. */
  values: z.object({ base: z.unknown(), ours: z.unknown(), theirs: z.unknown() }).nullable(),
  /** The owner has finished the text. */
  edited: z.boolean(),
  /** Notes of both sides' authors on the file. */
  notes: z.string().nullable(),
  /** The line of each side's notes that says what to keep. */
  keeps: z.object({ ours: z.string().nullable(), theirs: z.string().nullable() }),
  /** Paths to which a release may have moved the missing file. */
  candidates: z.array(z.string()),
  /** Recordings that may fit. */
  offers: z.array(z.object({ key: z.string(), origin: z.string() })),
});

/** The result of `claw conflicts`; `operation` is null if none waits. */
export const ConflictsData = z.object({
  operation: VerbCall.nullable(),
  open: z.array(z.string()),
  /** The present state: the composition's name (null before the first command) and the names of its layers. */
  installed: z.object({ state: z.string().nullable(), layers: z.array(z.string()) }).optional(),
  details: z.array(ConflictDetail).optional(),
  /** A file of answers to fill in, with `--answers`. */
  answers: z.string().optional(),
});

/** A recorded resolution. */
const Recording = z.object({
  key: z.string(),
  path: z.string(),
  kind: z.string(),
  layers: Sides,
  answer: z.string(),
  origin: z.string(),
  /** It was made here. */
  own: z.boolean(),
  /** The present tree uses it. */
  used: z.boolean(),
});

/** The result of `claw resolutions`: all of them, or the one that was forgotten. */
export const ResolutionsData = z.union([z.array(Recording), z.object({ forgotten: z.string() })]);

/**
 * The outcome of a combination. `resolved` composes with the help of recordings; `excluded` means that one
 * skill rules out the other.
 */
const MatrixOutcome = z.enum(['clean', 'resolved', 'excluded', 'conflict', 'failing', 'refused']);

/** `order`: the composition depended on the order of the skills. `own`: tests of the codebase itself. */
const MatrixFailure = z.object({
  kind: z.enum(['check', 'test', 'own', 'npm', 'order']),
  /** The check's command line, or the skill whose tests fail. */
  name: z.string(),
  /** The failure, in a few lines. */
  text: z.string(),
  /** The end of what was printed. */
  output: z.string(),
});

/** One combination of skills, composed on the core, and proved where it could be. */
const MatrixCell = z.object({
  /** One name, two or three, sorted; what they depend on was composed with them. */
  skills: z.array(z.string()),
  /**
   * Paths and keys in common, such as `npm:marked`, `env:TOKEN`, `service:redis`, `port:6379/tcp`,
   * `image-npm:zod`, `image-apt:ffmpeg`. Empty for a skill alone.
   */
  shares: z.array(z.string()),
  conflicts: z.array(
    z.object({ path: z.string(), kind: ConflictKind, layers: Sides, reason: z.string() }),
  ),
  /** Keys of the recordings that resolved something. */
  resolutions: z.array(z.string()),
  failures: z.array(MatrixFailure),
  /** The reason that a package, or the combination, is refused. */
  refusal: z.object({ code: z.enum(ERROR_CODES), message: z.string() }).nullable(),
  outcome: MatrixOutcome,
  ms: z.number(),
});

/** The result of `claw matrix`. */
export const MatrixData = z.object({
  core: z.object({
    version: z.string().nullable(),
    from: CoreOrigin,
    commit: z.string().nullable(),
  }),
  /** True if checks and tests ran. */
  proved: z.boolean(),
  skills: z.array(z.string()),
  /** Each skill alone, then pairs, then triples. A pair that is not here has nothing in common. */
  cells: z.array(MatrixCell),
  summary: z.record(MatrixOutcome, z.int()),
});

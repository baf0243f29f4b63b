import { z } from 'zod';
import { CommitList, Edit, FileDiff, LeftoverEdit, ShownDecision, UnwrittenPart } from './json.ts';

// What the results of verbs hold that change the tree, or plan, continue or take back such a change.

/** The checks and tests that passed on a planned tree. */
const Proof = z.object({
  checks: z.int(),
  /** Test files of all layers. */
  tests: z.int(),
  /** Those of them that were not run again, because they had passed on the same files. */
  reused: z.int(),
  /** Files of the codebase's own tests. */
  own: z.int(),
  /** A note on tests that did not run; null where all did. */
  note: z.string().nullable(),
});

/** The source of a skill that a command brings. */
const SkillSource = z.object({
  name: z.string(),
  source: z.string(),
  version: z.string(),
  digest: z.string(),
  /** The commit; only for a source in git. */
  commit: z.string().optional(),
  touches: z.array(z.string()),
});

/** The assumed ancestor of a package's file; nulls where it is unknown. */
const InferredBase = z.object({
  skill: z.string(),
  path: z.string(),
  from: z.string().nullable(),
  changedLines: z.int().nullable(),
  alsoFits: z.array(z.string()),
});

/** Data of every verb that composes the tree again, planned or carried out. */
export const TreeChangeData = z.object({
  /** The plan's identity, for `--expect`. */
  plan: z.string(),
  /** Assumptions about the release; the warnings say them too. */
  assumed: z.array(z.string()),
  skills: z.array(z.object({ name: z.string(), version: z.string() })),
  sources: z.array(SkillSource),
  /** `name@range` of npm packages that are new. */
  packages: z.array(z.string()),
  settings: z.array(z.string()),
  /** The settings that have no default. */
  requiredSettings: z.array(z.string()),
  /** Settings of skills that go, which no skill reads any more. */
  settingsGone: z.array(z.string()),
  /** Conflicts that were resolved: by recordings, or by a decision. */
  settled: z.array(
    z.object({
      path: z.string(),
      layers: z.tuple([z.string(), z.string()]),
      by: z.union([z.string(), z.array(z.string())]),
    }),
  ),
  proof: Proof.optional(),
  /** It was proved, and nothing was published. */
  isTrial: z.literal(true).optional(),
});

/** The same for verbs that bring packages, with the bases that these did not contain. */
export const SkillChangeData = TreeChangeData.extend({ inferredBases: z.array(InferredBase) });

const UpstreamCore = z.object({ version: z.string().nullable(), commit: z.string() });

/** The plan of the next update, which was not carried out. */
const NextUpdate = z.object({
  /** Commits of upstream's that are not here. */
  commits: CommitList,
  /** So many files of the core are others. */
  files: z.int(),
  /** Files that you have changed as well. */
  changedByBoth: z.array(z.string()),
  /** Files that it would ask about, with the number of places in each. */
  conflicts: z.array(z.object({ path: z.string(), places: z.int() })),
  /** Consent that it needs, as `--allow` takes it, with the number of files. */
  consent: z.array(z.object({ allow: z.string(), files: z.int(), isAllowed: z.boolean() })),
  /** Why it could not be planned. */
  problem: z.string().nullable(),
});

/** The result of `claw adopt`. */
export const AdoptData = TreeChangeData.extend({
  /** The project was set up before, and stays as it is. */
  isAdopted: z.boolean(),
  upstream: UpstreamCore.extend({
    /** The ref to give to `claw update`. */
    ref: z.string(),
    /** The remote that was fetched. */
    remote: z.string().nullable(),
    isNewRemote: z.boolean(),
  }),
  /** The release that your edits are counted from: where the histories part. */
  base: UpstreamCore.extend({ date: z.string() }),
  commits: CommitList,
  /** Files that differ from the release and its layers. */
  edits: z.array(Edit),
  /** Layers that were there before. */
  layers: z.int(),
  customisations: z.array(
    z.object({ name: z.string(), description: z.string(), files: z.array(z.string()) }),
  ),
  /** Edits that no customisation holds, with the reason. */
  unrecorded: z.array(z.object({ path: z.string(), why: z.string() })),
  /** Files of the release in private folders: updates leave them as they are. */
  privateFiles: z.array(z.string()),
  /** Null where upstream has nothing that is not here. */
  next: NextUpdate.nullable(),
  /** The next command to give. */
  command: z.string(),
});

const UpdatedCore = z.object({ version: z.string().nullable(), commit: z.string().nullable() });

/** A release's entry for installations of older releases. */
const Migration = z.object({
  since: z.string(),
  description: z.string(),
  skill: z.string().nullable(),
  retire: z.string().nullable(),
  pathMap: z.record(z.string(), z.string()).nullable(),
});

/** A layer that the release contains, and what becomes of it; `open` is for the owner to say. */
const Contained = z.object({
  name: z.string(),
  kind: z.enum(['skill', 'customisation']),
  /** The number of its commits, all of which the release has; 0 where that is not known. */
  commits: z.int(),
  /** The tree would be another one without it all the same. */
  hasEffect: z.boolean(),
  isNews: z.boolean(),
  fate: z.enum(['retired', 'stays', 'open']),
});

/** Changes of a layer to one file that the release contains, though not all that the layer does. */
const ContainedPart = z.object({
  layer: z.string(),
  path: z.string(),
  /** The changes that the layer makes to the file. */
  changes: z.int(),
  /** The lines of the release's file that are such a change already, first and last. */
  lines: z.array(z.tuple([z.int(), z.int()])),
});

/** The result of `claw update`. */
export const UpdateData = TreeChangeData.extend({
  from: UpdatedCore,
  to: UpdatedCore,
  /** The commit that git is to be told of as merged; null where git knows it, or shares no history with it. */
  gitMerge: z.string().nullable(),
  /** The release's commits since the old one; null where git does not know both. */
  commits: CommitList.nullable(),
  /** So many files of the core are others. */
  files: z.int(),
  migrations: z.array(Migration),
  retired: z.array(z.string()),
  contained: z.array(Contained),
  containedParts: z.array(ContainedPart),
  /** Layers that work on changed files, with those files. */
  affected: z.record(z.string(), z.array(z.string())),
  broughtSkills: z.array(z.string()),
  keptSkills: z.array(z.string()),
});

/** Names the two releases of an update, with their commits if both have the same version. */
export function namesOfReleases({
  from,
  to,
}: Pick<z.infer<typeof UpdateData>, 'from' | 'to'>): readonly [from: string, to: string] {
  const nameOf = ({ version, commit }: z.infer<typeof UpdatedCore>) => {
    const name = version ?? 'without a version';
    return from.version === to.version && commit !== null
      ? `${name} (${commit.slice(0, 7)})`
      : name;
  };
  return [nameOf(from), nameOf(to)];
}

/** The result of `claw customize`; `customisation` is null if there was nothing to record. */
export const CustomizeData = TreeChangeData.extend({
  customisation: z.object({ name: z.string(), files: z.array(Edit) }).nullable(),
});

/** The result of `claw rebase`; `customisation` is null if there was nothing to record. */
export const RebaseData = TreeChangeData.extend({
  losses: z.array(z.string()),
  customisation: z.object({ name: z.string(), files: z.array(z.string()) }).nullable(),
});

/** A package that was begun. */
export const NewPackData = z.object({
  skill: z.string(),
  folder: z.string(),
  adds: z.array(z.string()),
  modifies: z.array(z.string()),
  left: z.array(LeftoverEdit),
  toWrite: z.array(UnwrittenPart),
});

/** A package that was renewed. */
export const RenewalData = z.object({
  skill: z.string(),
  version: z.string(),
  coreVersion: z.string().nullable(),
  /** Files whose edits are in the package now. */
  folded: z.array(z.string()),
  left: z.array(LeftoverEdit),
  toWrite: z.array(UnwrittenPart),
});

/** A renewed package of an applied skill; the tree is composed again as well. */
export const RenewedData = TreeChangeData.extend(RenewalData.shape);

/** The same where edits conflict with the package: nothing was renewed. */
const BlockedData = TreeChangeData.strict();

/** The result of `claw pack`. */
export const PackData = z.union([RenewedData, RenewalData, NewPackData, BlockedData]);

/** The end of `claw dev`, which ran until it was told to end. */
export const SessionData = z.object({
  skill: z.string(),
  version: z.string().nullable(),
  /** So many saves were tried. */
  rounds: z.int(),
  /** The last edits are in the package. */
  isIn: z.boolean(),
  /** It ended before the last save was tried to its end. */
  isUntried: z.boolean(),
});

/** The result of `claw dev`; with `--once`, that of `claw pack --update`. */
export const DevData = z.union([SessionData, PackData]);

/** The result of `claw undo`. */
export const UndoData = z.object({
  /** The command that is taken back. */
  undone: z.string(),
  /** The plan's identity, for `--expect`. */
  plan: z.string(),
  isTrial: z.literal(true).optional(),
});

/** The result of `claw continue`: that of the verb that waited, named in `verb`. */
export const ContinueData = z.union([
  SkillChangeData.extend({ verb: z.enum(['apply', 'upgrade']) }),
  UpdateData.extend({ verb: z.literal('update') }),
  CustomizeData.extend({ verb: z.literal('customize') }),
  RebaseData.extend({ verb: z.literal('rebase') }),
  RenewedData.extend({ verb: z.literal('pack') }),
  TreeChangeData.extend({ verb: z.enum(['init', 'remove', 'replay', 'pack']) }),
  UndoData.extend({ verb: z.literal('undo') }),
]);

/** Fields of a plan beside the verb's own data. */
const Foreseen = {
  /** Paths that need `--allow`. */
  consent: z.array(z.string()),
  /** `name@version` of packages whose install scripts would not run. */
  installScripts: z.array(z.string()),
  /** The changes of the project's files as patches, with `--diff`. */
  patches: z.array(FileDiff).optional(),
};

/** The result of `claw plan`: that of the planned verb, named in `verb`. */
export const PlanData = z.union([
  SkillChangeData.extend({ verb: z.enum(['apply', 'upgrade']), ...Foreseen }),
  UpdateData.extend({ verb: z.literal('update'), ...Foreseen }),
  AdoptData.extend({ verb: z.literal('adopt'), ...Foreseen }),
  CustomizeData.extend({ verb: z.literal('customize'), ...Foreseen }),
  RebaseData.extend({ verb: z.literal('rebase'), ...Foreseen }),
  RenewedData.extend({ verb: z.literal('pack'), ...Foreseen }),
  TreeChangeData.extend({ verb: z.enum(['init', 'remove', 'replay', 'pack']), ...Foreseen }),
  NewPackData.extend({ verb: z.literal('pack') }),
  UndoData.extend({ verb: z.literal('undo'), patches: Foreseen.patches }),
]);

/** A choice of a model's, for `resolve`. */
const ProposedChoice = z.union([
  z.object({ kind: z.enum(['ours', 'theirs']), origin: z.string() }),
  /** The lines of each open hunk, in their order. */
  z.object({
    kind: z.literal('picks'),
    picks: z.array(z.object({ text: z.string() })),
    origin: z.string(),
  }),
  /** The value of a structured conflict; null takes the key out. */
  z.object({ kind: z.literal('value'), value: z.unknown(), origin: z.string() }),
]);

/** The result of `claw resolve`; `path` is null if nothing was decided. */
export const ResolveData = z.object({
  path: z.string().nullable(),
  /** Several that were decided at once. */
  paths: z.array(z.string()).optional(),
  /** The author of the decision. */
  origin: z.string().optional(),
  /** Conflicts that are left to decide. */
  open: z.array(z.string()),
  /** Proposals of a model. */
  proposals: z.array(ShownDecision.extend({ path: z.string(), choice: ProposedChoice })).optional(),
});

/** The result of `claw recover`. */
export const RecoverData = z.object({
  outcome: z.string(),
  /** The verb that was killed. */
  verb: z.string().nullable(),
  /** Edits of the owner's that were put aside. */
  kept: z.array(z.string()),
});

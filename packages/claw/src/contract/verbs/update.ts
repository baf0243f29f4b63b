import { z } from 'zod';
import { CarriedData } from '../carried.ts';
import { CommitList } from '../parts.ts';

const Core = z.object({ version: z.string().nullable(), commit: z.string().nullable() });

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
export const UpdateData = CarriedData.extend({
  from: Core,
  to: Core,
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

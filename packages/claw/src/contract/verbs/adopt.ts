import { z } from 'zod';
import { CarriedData } from '../carried.ts';
import { CommitList, Edit } from '../parts.ts';

const Core = z.object({ version: z.string().nullable(), commit: z.string() });

/** What the next update would do, planned and not carried out. */
const NextUpdate = z.object({
  /** Commits of upstream's that are not here. */
  commits: CommitList,
  /** So many files of the core are others. */
  files: z.int(),
  /** Files that you have changed as well. */
  changedByBoth: z.array(z.string()),
  /** Files that it would ask about, with the number of places in each. */
  conflicts: z.array(z.object({ path: z.string(), places: z.int() })),
  /** What it wants to be allowed, as `--allow` takes it, with the number of files. */
  consent: z.array(z.object({ allow: z.string(), files: z.int(), isAllowed: z.boolean() })),
  /** Why it could not be planned. */
  problem: z.string().nullable(),
});

/** The result of `claw adopt`. */
export const AdoptData = CarriedData.extend({
  /** The project was set up before, and stays as it is. */
  isAdopted: z.boolean(),
  upstream: Core.extend({
    /** What `claw update` takes. */
    ref: z.string(),
    /** The remote that was fetched. */
    remote: z.string().nullable(),
    isNewRemote: z.boolean(),
  }),
  /** The release that your edits are counted from: where the histories part. */
  base: Core.extend({ date: z.string() }),
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

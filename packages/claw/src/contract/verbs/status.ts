import { z } from 'zod';
import { CoreOrigin, Edit } from '../parts.ts';

/** The core below the layers. */
const Core = z.object({
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
const Layer = z.object({
  name: z.string(),
  kind: z.enum(['skill', 'customisation']),
  version: z.string(),
  source: z.string(),
  installed: z.string(),
  /** The tree would be the same without it. */
  changesNothing: z.boolean(),
});

/** The operation that waits for decisions. */
const Pending = z.object({
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
  core: Core.nullable(),
  /** The release that the first command would take, where nothing is installed yet. */
  release: z
    .object({ version: z.string().nullable(), commit: z.string().nullable(), from: CoreOrigin })
    .optional(),
  layers: z.array(Layer),
  edits: z.array(Edit),
  /** npm packages that a command passed over, until they are installed. */
  lackingPackages: z.array(z.string()).optional(),
  pending: Pending.nullable(),
});

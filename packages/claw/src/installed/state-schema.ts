import { valid } from 'semver';
import { z } from 'zod';
import type { Digest, FileDigest } from '../digest.ts';
import { treePathFault } from '../package/checks/protection.ts';
import type { PathMap } from '../package/manifest/path-map.ts';

const NEWEST = 1;

const DigestText = z.custom<Digest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'must be sha256: and 64 hexadecimal digits',
);
const FileDigestText = z.custom<FileDigest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}( \+x)?$/.test(value),
  'must be sha256: and 64 hexadecimal digits, with " +x" after it for an executable file',
);

// Read and written below the project, so never a way out of it, nor into git's own files or ours.
const ProjectPath = z.string().refine((path) => treePathFault(path) === null, {
  error: ({ input }) => `is no path of a project: ${treePathFault(String(input))}`,
});
const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'is not a valid name of a skill');
const Commit = z.string().regex(/^[0-9a-f]{40,64}$/, 'is no commit');
const Version = z.string().refine((text) => valid(text) !== null, 'is no version');
const Key = z.string().regex(/^[0-9a-f]{16}$/, 'is no key of a resolution');

const Layer = z.strictObject({
  name: Name,
  kind: z.enum(['skill', 'customisation']).default('skill'),
  version: z.string(),
  source: z.string(),
  commit: Commit.optional(),
  digest: DigestText,
  installed: z.iso.datetime(),
  inferred_bases: z
    .record(ProjectPath, z.union([FileDigestText, z.literal('unknown')]))
    .default({}),
  changes_nothing: z.literal(true).optional(),
});

/** `state.yaml` as it is written; its spelling is snake_case. */
export const StateFile = z.strictObject({
  version: z.literal(NEWEST),
  core: z.strictObject({
    version: z.string().nullable(),
    commit: Commit.nullable(),
    from: z.enum(['tag', 'commit', 'folder', 'disk']),
    digest: DigestText,
    assumed: z.boolean(),
    updated: z.literal(true).optional(),
    skills: z.record(Name, DigestText).default({}),
    moves: z
      .array(
        z.strictObject({ since: Version.nullable(), paths: z.record(ProjectPath, ProjectPath) }),
      )
      .default([]),
  }),
  layers: z.array(Layer).superRefine((layers, context) => {
    const twice = layers.findIndex(
      ({ name }, at) => layers.findIndex((one) => one.name === name) < at,
    );
    if (twice === -1) return;
    context.addIssue({ code: 'custom', path: [twice, 'name'], message: 'is listed twice' });
  }),
  resolutions: z
    .record(Key, z.strictObject({ digest: DigestText, own: z.boolean(), used: z.boolean() }))
    .default({}),
  files: z.record(ProjectPath, z.union([FileDigestText, z.literal('deleted')])),
  structured: z.record(z.string(), z.record(z.string(), z.unknown())),
});

type RawState = z.output<typeof StateFile>;

/** The newest format that this engine writes and reads. */
export const STATE_FORMAT = NEWEST;

/** One applied layer, as `state.yaml` pins it. */
export type LayerState = {
  readonly name: string;
  readonly kind: 'skill' | 'customisation';
  readonly version: string;
  readonly source: string;
  /** Of a source in git. */
  readonly commit?: string | undefined;
  readonly digest: Digest;
  readonly installed: string;
  /** Ancestors that the package did not carry; `unknown` where no history told of one. */
  readonly inferredBases: Readonly<Record<string, FileDigest | 'unknown'>>;
  /** The tree would be the same without it: the core, or another layer, does all that it does. */
  readonly changesNothing?: true | undefined;
};

/** The core below the layers. */
export type CoreState = {
  readonly version: string | null;
  readonly commit: string | null;
  readonly from: RawState['core']['from'];
  readonly digest: Digest;
  /** No `init` or `update` of the owner's named it. */
  readonly assumed: boolean;
  /** It came by `update`, so none of it is the owner's. */
  readonly isUpdated: boolean;
  /** The packages that the release brought, with the digests of their folders. */
  readonly skills: Readonly<Record<string, Digest>>;
  /** Moves that no release listed and the owner declared, in that order. */
  readonly moves: readonly PathMap[];
};

/** A recorded resolution that this installation knows: made here or not, in use or kept for later. */
export type ResolutionState = {
  readonly digest: Digest;
  readonly own: boolean;
  readonly used: boolean;
};

/** The installed layers and core, with digests; enough to replay. */
export type State = {
  readonly core: CoreState;
  readonly layers: readonly LayerState[];
  /** By key. */
  readonly resolutions: ReadonlyMap<string, ResolutionState>;
  /** Every file that differs from the core. */
  readonly files: ReadonlyMap<string, FileDigest | 'deleted'>;
  /** Resolved ranges, ports and settings, by file. */
  readonly structured: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Of the file's own bytes: operations that wait are bound to it. */
  readonly digest: Digest;
};

export function fromStateFile(raw: RawState, digest: Digest): State {
  const { updated = false, ...core } = raw.core;
  return {
    core: { ...core, isUpdated: updated },
    layers: raw.layers.map(({ inferred_bases, changes_nothing, ...layer }) => ({
      ...layer,
      inferredBases: inferred_bases,
      ...(changes_nothing ? { changesNothing: changes_nothing } : {}),
    })),
    resolutions: new Map(Object.entries(raw.resolutions)),
    files: new Map(Object.entries(raw.files)),
    structured: raw.structured,
    digest,
  };
}

/** A state as JSON, to be kept between two commands. */
export type StateJson = Omit<State, 'digest' | 'resolutions' | 'files'> & {
  readonly resolutions: readonly (readonly [string, ResolutionState])[];
  readonly files: readonly (readonly [string, FileDigest | 'deleted'])[];
};

export function toStateJson(state: Omit<State, 'digest'>): StateJson {
  const { core, layers, resolutions, files, structured } = state;
  return { core, layers, resolutions: [...resolutions], files: [...files], structured };
}

export function fromStateJson(json: StateJson, digest: Digest): State {
  return { ...json, resolutions: new Map(json.resolutions), files: new Map(json.files), digest };
}

/** Returns the data to write for a state: sorted, and without empty parts. */
export function toStateFile(state: Omit<State, 'digest'>): object {
  const { skills, moves, isUpdated, ...core } = state.core;
  return {
    version: NEWEST,
    core: {
      ...core,
      ...(isUpdated ? { updated: true } : {}),
      ...unlessEmpty('skills', sorted(Object.entries(skills))),
      ...(moves.length === 0 ? {} : { moves }),
    },
    layers: state.layers.map(({ kind, inferredBases, changesNothing, ...layer }) => ({
      ...layer,
      ...(kind === 'skill' ? {} : { kind }),
      ...(changesNothing ? { changes_nothing: changesNothing } : {}),
      ...unlessEmpty('inferred_bases', sorted(Object.entries(inferredBases))),
    })),
    ...unlessEmpty('resolutions', sorted(state.resolutions)),
    files: sorted(state.files),
    structured: state.structured,
  };
}

function sorted<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function unlessEmpty(key: string, content: Readonly<Record<string, unknown>>): object {
  return Object.keys(content).length === 0 ? {} : { [key]: content };
}

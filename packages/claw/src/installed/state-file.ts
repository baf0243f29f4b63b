import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { valid } from 'semver';
import { type Document, isMap, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { type Digest, digestBytes, type FileDigest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { treePathFault } from '../package/checks/protection.ts';
import type { PathMap } from '../package/manifest/path-map.ts';
import { readCache, writeCache } from './cache-file.ts';

export const STATE_PATH = '.claw/state.yaml';

const CACHE = 'state';

/** YAML's own end of a document. Many a YAML that is cut short is YAML still, and says something else. */
const END = '...\n';
const PROMISE = '# What is installed here, down to the line of dots.';
const HEADING = `${PROMISE} Written by claw; commit it with the tree.\n`;

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
  error: ({ input }) => `is not a path of a project: ${treePathFault(String(input))}`,
});
const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'is not a valid name of a skill');
const Commit = z.string().regex(/^[0-9a-f]{40,64}$/, 'is not a commit');
const Version = z.string().refine((text) => valid(text) !== null, 'is not a version');
const Key = z.string().regex(/^[0-9a-f]{16}$/, 'is not a key of a resolution');

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
const StateFile = z.strictObject({
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

/** The newest format that this engine writes and reads. */
const STATE_FORMAT = NEWEST;

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
  /** The digest of the file's own bytes. Waiting operations are bound to it. */
  readonly digest: Digest;
};

/**
 * Reads `.claw/state.yaml`; null where there is none.
 *
 * @throws ClawError STATE_INVALID with line and reason
 */
export function readState(root: string): State | null {
  const bytes = readStateBytes(root);
  if (bytes === null) return null;
  const digest = digestBytes(bytes);
  const known = knownState(root, digest);
  if (known !== null) return known;
  const state = parseState(bytes);
  rememberState(root, state, digest);
  return state;
}

/** Spares the next command the YAML: reading that takes longer than most commands. */
export function rememberState(root: string, state: Omit<State, 'digest'>, digest: Digest): void {
  writeCache(root, CACHE, { digest, state: toStateJson(state) } satisfies CachedState);
}

type RawState = z.output<typeof StateFile>;

/** One applied layer, as `state.yaml` pins it. */
export type LayerState = {
  readonly name: string;
  readonly kind: 'skill' | 'customisation';
  readonly version: string;
  readonly source: string;
  /** The commit; only for a source in git. */
  readonly commit?: string | undefined;
  readonly digest: Digest;
  readonly installed: string;
  /** Ancestors that the package did not carry; `unknown` where no history told of one. */
  readonly inferredBases: Readonly<Record<string, FileDigest | 'unknown'>>;
  /** The tree would be the same without it: the core, or another layer, does all that it does. */
  readonly changesNothing?: true | undefined;
};

/** The core below the layers. */
type CoreState = {
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
type ResolutionState = {
  readonly digest: Digest;
  readonly own: boolean;
  readonly used: boolean;
};

function fromStateFile(raw: RawState, digest: Digest): State {
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
type StateJson = Omit<State, 'digest' | 'resolutions' | 'files'> & {
  readonly resolutions: readonly (readonly [string, ResolutionState])[];
  readonly files: readonly (readonly [string, FileDigest | 'deleted'])[];
};

function toStateJson(state: Omit<State, 'digest'>): StateJson {
  const { core, layers, resolutions, files, structured } = state;
  return { core, layers, resolutions: [...resolutions], files: [...files], structured };
}

function fromStateJson(json: StateJson, digest: Digest): State {
  return { ...json, resolutions: new Map(json.resolutions), files: new Map(json.files), digest };
}

/** Returns the data to write for a state: sorted, and without empty parts. */
function toStateFile(state: Omit<State, 'digest'>): object {
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

/** Returns the bytes for `state.yaml`: those that are there, where they say the same already. */
export function stateBytes(root: string, state: Omit<State, 'digest'>): Buffer {
  const present = readStateBytes(root);
  const known = present === null ? null : knownState(root, digestBytes(present));
  const isSame = known !== null && textOf(known) === textOf(state);
  return present !== null && isSame ? present : renderState(state);
}

function textOf(state: Omit<State, 'digest'>): string {
  return JSON.stringify(toStateFile(state));
}

type CachedState = { readonly digest: Digest; readonly state: StateJson };

function knownState(root: string, digest: Digest): State | null {
  // Its seal says that we wrote it: its shape needs no second check.
  const known = readCache(root, CACHE) as CachedState | null;
  return known?.digest === digest ? fromStateJson(known.state, digest) : null;
}

/** Returns the digest of `state.yaml`, without parsing it. */
export function stateDigest(root: string): Digest | null {
  const bytes = readStateBytes(root);
  return bytes === null ? null : digestBytes(bytes);
}

export function parseState(bytes: Buffer): State {
  const text = bytes.toString('utf8');
  refuseMarkers(text);
  const document = parseDocument(text, { uniqueKeys: true });
  const [syntax] = document.errors;
  if (syntax) {
    const reason = syntax.message.replace(/( at line \d+.*)?\n.*/s, '');
    const isBehind = syntax.code === 'MULTIPLE_DOCS';
    const line = syntax.linePos?.[0].line ?? 1;
    throw invalid(`line ${line}`, isBehind ? 'there is text after its end' : reason);
  }
  const content = contentOf(document);
  refuseNewer(content, document, bytes);
  refuseCut(text);
  const parsed = StateFile.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const path = [...(issue?.path.map(String) ?? []), ...unknown];
    throw invalid(
      `line ${lineOf(document.contents, path, bytes)}`,
      [path.join('.'), issue?.message].filter((part) => part !== '').join(': '),
    );
  }
  return fromStateFile(parsed.data, digestBytes(bytes));
}

/** Writes a state as YAML; equal states give equal bytes. */
export function renderState(state: Omit<State, 'digest'>): Buffer {
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  return Buffer.from(HEADING + stringify(toStateFile(state), options) + END);
}

function contentOf(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid('line 1', error instanceof Error ? error.message : 'it cannot be read');
  }
}

function readStateBytes(root: string): Buffer | null {
  try {
    return readFileSync(join(root, STATE_PATH));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function refuseMarkers(text: string): void {
  const line = text.split('\n').findIndex((one) => /^([<>|]{7} |={7}$)/.test(one)) + 1;
  if (line === 0) return;
  const way = 'in the list of layers keep what should be installed, elsewhere either side';
  throw invalid(`line ${line}`, `git left a conflict here: ${way}, then run claw replay`);
}

function refuseCut(text: string): void {
  if (/^\.\.\.\s*$/m.test(text.slice(-END.length * 4))) return;
  // A tool that rewrites YAML keeps neither comments nor the end, and older engines wrote none.
  if (!text.startsWith(PROMISE) && text.endsWith('\n')) return;
  throw invalid(`line ${text.trimEnd().split('\n').length}`, 'it is cut short: its end is missing');
}

function refuseNewer(content: unknown, { contents }: Document, bytes: Buffer): void {
  if (typeof content !== 'object' || content === null || !('version' in content)) return;
  if (typeof content.version === 'number' && content.version > STATE_FORMAT) {
    throw invalid(
      `line ${lineOf(contents, ['version'], bytes)}`,
      `it was written by a newer claw (format ${content.version}). Update claw`,
    );
  }
}

function lineOf(contents: unknown, path: readonly string[], bytes: Buffer): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = isMap(contents) ? contents.getIn(path.slice(0, depth).map(numeric), true) : null;
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) {
      const before = bytes.toString('utf8').slice(0, Number(node.range[0]));
      return before.split('\n').length;
    }
  }
  return 1;
}

function numeric(key: string): string | number {
  return /^\d+$/.test(key) ? Number(key) : key;
}

function invalid(place: string, reason: string): ClawError {
  return new ClawError(
    'STATE_INVALID',
    `${STATE_PATH}, ${place}: ${reason}. \`claw doctor\` names the copies that are good, in git or in .claw/backup.`,
    { path: `${STATE_PATH}:${place}` },
  );
}

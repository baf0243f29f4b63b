import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { type Digest, digestBytes, type FileDigest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { pathFault } from '../skill/paths.ts';

export const STATE_PATH = '.claw/state.yaml';
const NEWEST = 1;

const DigestText = z.custom<Digest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'must be sha256: and 64 hexadecimal digits',
);
const FileDigestText = z.custom<FileDigest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}( \+x)?$/.test(value),
  'must be sha256: and 64 hexadecimal digits, with " +x" behind it for an executable file',
);

// Read and written below the project, so never a way out of it.
const ProjectPath = z
  .string()
  .refine((path) => pathFault(path) === null, 'is no path of a project');

const Schema = z.strictObject({
  version: z.literal(NEWEST),
  core: z.strictObject({
    version: z.string().nullable(),
    commit: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/)
      .nullable(),
    from: z.enum(['tag', 'commit', 'folder', 'disk']),
    digest: DigestText,
    assumed: z.boolean(),
  }),
  layers: z.array(
    z.strictObject({
      name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'is no name of a skill'),
      version: z.string(),
      source: z.string(),
      digest: DigestText,
      installed: z.iso.datetime(),
    }),
  ),
  files: z.record(ProjectPath, z.union([FileDigestText, z.literal('deleted')])),
  structured: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** One applied skill, as `state.yaml` pins it. */
export type LayerState = Readonly<z.output<typeof Schema>['layers'][number]>;

/** What is installed, with digests; enough to replay. */
export type State = Readonly<{
  core: Readonly<z.output<typeof Schema>['core']>;
  layers: readonly LayerState[];
  /** Every file that differs from the core. */
  files: ReadonlyMap<string, FileDigest | 'deleted'>;
  /** Resolved ranges, ports and settings, by file. */
  structured: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Of the file's own bytes: operations that wait are bound to it. */
  digest: Digest;
}>;

/**
 * Reads `.claw/state.yaml`; null where there is none.
 *
 * @throws ClawError STATE_INVALID with line and reason
 */
export function readState(root: string): State | null {
  const bytes = readStateBytes(root);
  return bytes === null ? null : parseState(bytes);
}

/** The digest of `state.yaml` as it stands, without reading into it. */
export function stateDigest(root: string): Digest | null {
  const bytes = readStateBytes(root);
  return bytes === null ? null : digestBytes(bytes);
}

export function parseState(bytes: Buffer): State {
  const document = parseDocument(bytes.toString('utf8'), { uniqueKeys: true });
  const [syntax] = document.errors;
  if (syntax)
    throw invalid(`line ${syntax.linePos?.[0].line ?? 1}`, syntax.message.split('\n')[0] ?? '');
  const content = contentOf(document);
  refuseNewer(content);
  const parsed = Schema.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.map(String) ?? [];
    throw invalid(
      `line ${lineOf(document.contents, path, bytes)}`,
      [path.join('.'), issue?.message].filter((part) => part !== '').join(': '),
    );
  }
  const { core, layers, files, structured } = parsed.data;
  return {
    core,
    layers,
    files: new Map(Object.entries(files)),
    structured,
    digest: digestBytes(bytes),
  };
}

/** Writes a state as YAML; equal states give equal bytes. */
export function renderState(state: Omit<State, 'digest'>): Buffer {
  const files = [...state.files].sort(([one], [other]) => (one < other ? -1 : 1));
  const content = {
    version: NEWEST,
    core: state.core,
    layers: state.layers,
    files: Object.fromEntries(files),
    structured: state.structured,
  };
  const heading = '# What is installed here. Written by claw; commit it together with the tree.\n';
  return Buffer.from(heading + stringify(content, { lineWidth: 0, aliasDuplicateObjects: false }));
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

function refuseNewer(content: unknown): void {
  if (typeof content !== 'object' || content === null || !('version' in content)) return;
  if (typeof content.version === 'number' && content.version > NEWEST) {
    throw invalid(
      'version',
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
    `${STATE_PATH}, ${place}: ${reason}. Take it back from git, or from .claw/backup, and try again.`,
    { path: `${STATE_PATH}:${place}` },
  );
}

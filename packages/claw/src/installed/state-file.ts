import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, parseDocument, stringify } from 'yaml';
import { type Digest, digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { readCache, writeCache } from './cache-file.ts';
import {
  fromStateFile,
  fromStateJson,
  STATE_FORMAT,
  type State,
  StateFile,
  type StateJson,
  toStateFile,
  toStateJson,
} from './state-schema.ts';

export type { LayerState, State } from './state-schema.ts';

export const STATE_PATH = '.claw/state.yaml';

const CACHE = 'state';

/** YAML's own end of a document. Many a YAML that is cut short is YAML still, and says something else. */
const END = '...\n';
const PROMISE = '# What is installed here, down to the line of dots.';
const HEADING = `${PROMISE} Written by claw; commit it with the tree.\n`;

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
  writeCache(root, CACHE, { digest, state: toStateJson(state) } satisfies Known);
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

type Known = { readonly digest: Digest; readonly state: StateJson };

function knownState(root: string, digest: Digest): State | null {
  // Its seal says that we wrote it: its shape needs no second check.
  const known = readCache(root, CACHE) as Known | null;
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

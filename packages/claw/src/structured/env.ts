import { parseEnv } from 'node:util';
import type { Conflict } from '../conflict.ts';
import type { DeclaredSetting, StructuredInput, StructuredResult } from './declaration.ts';
import { disagreement } from './disagreement.ts';
import {
  eolOf,
  joinLines,
  type KeyedChunk,
  type KeyedMap,
  splitLines,
} from './json/keyed-lines.ts';

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;

/** A setting as one layer declares it. */
type Requirement = { readonly layer: string; readonly setting: DeclaredSetting };

/**
 * Composes `.env.example`: adds the settings of layers at its end, grouped by layer. A setting that the file
 * names already, commented out or not, is not repeated.
 *
 * A setting of several layers is written once, at the first of them by name, with the description of each.
 * Two examples for its value are a conflict.
 */
export function composeEnv(input: StructuredInput): StructuredResult {
  const release = input.release?.toString('utf8') ?? '';
  const eol = eolOf(release);
  const named = namesIn(release);
  const requirements = requirementsByName(input);
  const outcome = { env_additions: [...requirements.keys()].sort() };
  const conflicts: Conflict[] = [];
  const groups = new Map<string, string[]>();
  for (const [name, all] of requirements) {
    if (named.has(name)) continue;
    const agreed = agree(all, input);
    conflicts.push(...agreed.conflicts);
    const first = all.map(({ layer }) => layer).sort()[0] ?? '';
    groups.set(first, [...(groups.get(first) ?? []), ...linesFor(all, agreed.example)]);
  }
  if (groups.size === 0) return { bytes: input.release, conflicts, outcome };
  const before = splitLines(release);
  const blocks = [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, lines]) => lines.map((line) => line + eol));
  const isApart = before.length === 0 || before.at(-1)?.trim() === '';
  const lines = [...before, ...(isApart ? [] : [eol]), ...withGaps(blocks, eol)];
  return { bytes: bytesOf(joinLines(lines, eol), input.release), conflicts, outcome };
}

/**
 * Returns the settings of an env file by name; a name given twice counts as two keys. A value in quotes goes
 * on to the closing quotation mark, over as many lines as that takes, as Node reads it.
 */
export function envMap(text: string): KeyedMap {
  const chunks: KeyedChunk[] = [];
  const seen = new Map<string, number>();
  let lead: string[] = [];
  const lines = splitLines(text);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, name, first = ''] = ASSIGNMENT.exec(line.replace(/\r?\n$/, '')) ?? [];
    if (name === undefined) {
      lead.push(line);
      continue;
    }
    const more = linesAfter(first, lines, at);
    at += more.length;
    const value = [first, ...more.map((one) => one.replace(/\r?\n$/, ''))].join('\n');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const key = count === 1 ? name : `${name} (${count})`;
    chunks.push({
      key,
      lead,
      head: [line, ...more],
      map: null,
      value: value.trim(),
      isEmpty: false,
    });
    lead = [];
  }
  return { chunks, tail: lead, indent: '' };
}

/** Returns the further lines of a value whose quotation mark is closed below; none where nothing closes it. */
function linesAfter(first: string, lines: readonly string[], at: number): readonly string[] {
  const [, mark, rest = ''] = /^\s*(["'`])(.*)$/.exec(first) ?? [];
  if (mark === undefined || rest.includes(mark)) return [];
  const end = lines.findIndex((line, index) => index > at && line.includes(mark));
  return end === -1 ? [] : lines.slice(at + 1, end + 1);
}

/** Returns every setting that the file names, commented out or not. */
function namesIn(text: string): ReadonlySet<string> {
  const { chunks, tail } = envMap(text);
  const comments = [...chunks.flatMap(({ lead }) => lead), ...tail];
  return new Set([...chunks.map(({ key }) => key), ...comments.flatMap(namesOf)]);
}

function namesOf(line: string): readonly string[] {
  const name = ASSIGNMENT.exec(line.replace(/^\s*#+/, '').trimEnd())?.[1];
  return name === undefined ? [] : [name];
}

/** Returns the settings by name, in the order of the layers' names; the layers of each in canonical order. */
function requirementsByName({
  declarations,
}: StructuredInput): ReadonlyMap<string, readonly Requirement[]> {
  const requirements = new Map<string, Requirement[]>();
  for (const { structured } of [...declarations].sort(byLayer)) {
    for (const { name } of structured.envAdditions) requirements.set(name, []);
  }
  for (const { layer, structured } of declarations) {
    for (const setting of structured.envAdditions) {
      const known = requirements.get(setting.name) ?? [];
      if (known.at(-1)?.layer !== layer) known.push({ layer, setting });
    }
  }
  return requirements;
}

type Agreed = { readonly example: string | null; readonly conflicts: readonly Conflict[] };

/** Returns the example that becomes the value, if it is no secret's. */
function agree(requirements: readonly Requirement[], input: StructuredInput): Agreed {
  const { path, release } = input;
  const isSecret = requirements.some(({ setting }) => setting.isSecret);
  const [first, ...others] = isSecret ? [] : distinctExamples(requirements);
  if (first === undefined) return { example: null, conflicts: [] };
  let agreed = first;
  for (const other of others) {
    const { name } = other;
    const conflict = disagreement(`${path}#${name}`, [agreed.layer, other.layer], {
      reason: `${agreed.layer} has ${name}=${agreed.example}, ${other.layer} has ${name}=${other.example}.`,
      sides: { base: release, ours: release, theirs: release },
      values: { base: null, ours: agreed.example, theirs: other.example },
    });
    const decided = input.decide?.(conflict) ?? null;
    const example = decided === null ? undefined : (decided.value ?? '');
    if (typeof example !== 'string') return { example: null, conflicts: [conflict] };
    agreed = { ...other, example };
  }
  return { example: agreed.example, conflicts: [] };
}

type Example = { readonly layer: string; readonly name: string; readonly example: string };

function distinctExamples(requirements: readonly Requirement[]): readonly Example[] {
  const examples = requirements.flatMap(({ layer, setting: { name, example } }) =>
    example === null ? [] : [{ layer, name, example }],
  );
  return examples.filter(
    ({ example }, at) => examples.findIndex((other) => other.example === example) === at,
  );
}

// The file gets copied to `.env`: a secret's example would then be taken for the secret.
function linesFor(requirements: readonly Requirement[], example: string | null): readonly string[] {
  const said = [...requirements].sort(byLayer).flatMap(({ setting }) => {
    const isShown = example === null && setting.example !== null;
    const looks = isShown ? [`Looks like ${setting.example}`] : [];
    return [...(setting.description ?? '').split('\n'), ...looks];
  });
  const comments = [...new Set(said.map((line) => line.trim()))].filter((line) => line !== '');
  const name = requirements[0]?.setting.name ?? '';
  return [...comments.map((line) => `# ${line}`), `${name}=${quoteEnv(example ?? '')}`];
}

/** Returns the value of a setting as programs read it: without quotes and without a comment after it. */
export function envValue(written: string): string {
  return parseEnv(`X=${written}`)['X'] ?? '';
}

/** Writes a value for a line of an env file: quotes everything that readers would cut or trim. */
export function quoteEnv(value: string): string {
  if (/^[^\s#'"`]*$/.test(value)) return value;
  // In double quotes, readers take `\n` for a line break.
  const marks = value.includes('\\') ? ["'", '`', '"'] : ['"', "'", '`'];
  const mark = marks.find((candidate) => !value.includes(candidate));
  // A value that holds every kind of quotes stays as it is.
  return mark === undefined ? value : mark + value + mark;
}

function withGaps(blocks: readonly (readonly string[])[], eol: string): readonly string[] {
  return blocks.flatMap((lines, at) => (at === 0 ? lines : [eol, ...lines]));
}

// Bytes that are no UTF-8 are appended to, never decoded and written back.
function bytesOf(text: string, release: Buffer | null): Buffer {
  const decoded = release?.toString('utf8') ?? '';
  return Buffer.concat([release ?? Buffer.alloc(0), Buffer.from(text.slice(decoded.length))]);
}

function byLayer(one: { readonly layer: string }, other: { readonly layer: string }): number {
  return one.layer < other.layer ? -1 : 1;
}

const LINE =
  /^(\s*(?:export\s+)?\w+\s*=[ \t]*)("[^"]*"|'[^']*'|`[^`]*`|[^#\r\n]*?)(\s*#.*?)?(\s*)$/;

/**
 * Sets a setting of an env file, at its end where there is none yet; null takes its lines out, with the
 * comment right above it. Every other byte stays.
 *
 * @returns null for a value that is not text, or that no quotation marks can hold together
 */
export function setEnv(bytes: Buffer, name: string, value: unknown): Buffer | null {
  if (value !== null && (typeof value !== 'string' || value.includes('\r'))) return null;
  if (value?.includes('\n') && quoteEnv(value) === value) return null;
  // One byte, one character: a file that is no UTF-8 is not decoded and written back.
  const text = bytes.toString('latin1');
  const quoted = value === null ? null : quoteEnv(value).replaceAll('\n', eolOf(text));
  const written = quoted === null ? null : Buffer.from(quoted).toString('latin1');
  const { chunks, tail } = envMap(text);
  const isThere = chunks.some(({ key }) => key === name);
  const lines = chunks.flatMap((chunk) =>
    chunk.key === name ? linesWith(chunk, written) : [...chunk.lead, ...chunk.head],
  );
  const added = isThere || written === null ? [] : [`${name}=${written}${eolOf(text)}`];
  return Buffer.from(joinLines([...lines, ...tail, ...added], eolOf(text)), 'latin1');
}

/** Returns the settings of an env file with their values as programs read them. */
export function envData(bytes: Buffer): Readonly<Record<string, string>> {
  const { chunks } = envMap(bytes.toString('latin1'));
  const decode = (value: string) => envValue(Buffer.from(value, 'latin1').toString('utf8'));
  return Object.fromEntries(chunks.map(({ key, value }) => [key, decode(value)]));
}

function linesWith({ lead, head }: KeyedChunk, written: string | null): readonly string[] {
  if (written === null) return lead.slice(0, lead.findLastIndex((line) => line.trim() === '') + 1);
  const [, before = '', , comment = '', end = ''] = LINE.exec(head.join('')) ?? [];
  return [...lead, `${before}${written}${comment}${end}`];
}

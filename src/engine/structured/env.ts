import type { DeclaredSetting, StructuredInput, StructuredResult } from './declaration.ts';
import { quoteEnv } from './env-value.ts';
import { eolOf, joinLines, type KeyedChunk, type KeyedMap, splitLines } from './keyed-lines.ts';

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;

/**
 * `.env.example` with the settings that layers add, at its end and grouped by layer. A setting that the
 * file names already, commented out or not, and one that another layer brought, is not repeated.
 */
export function composeEnv(input: StructuredInput): StructuredResult {
  const release = input.release?.toString('utf8') ?? '';
  const eol = eolOf(release);
  const named = new Set(splitLines(release).flatMap(namesOf));
  const added: string[] = [];
  const groups: string[][] = [];
  for (const { structured } of [...input.declarations].sort(byLayer)) {
    const fresh = structured.envAdditions.filter(({ name }, at, all) => {
      const isFirst = all.findIndex((other) => other.name === name) === at;
      return isFirst && !named.has(name);
    });
    for (const { name } of fresh) named.add(name);
    added.push(...fresh.map(({ name }) => name));
    if (fresh.length > 0) groups.push(fresh.flatMap(linesFor));
  }
  const settings = input.declarations.flatMap(({ structured }) =>
    structured.envAdditions.map(({ name }) => name),
  );
  const outcome = { env_additions: [...new Set(settings)].sort() };
  if (groups.length === 0) return { bytes: input.release, conflicts: [], outcome };
  const before = splitLines(release);
  const blocks = groups.map((lines) => lines.map((line) => line + eol));
  const isApart = before.length === 0 || before.at(-1)?.trim() === '';
  const lines = [...before, ...(isApart ? [] : [eol]), ...withGaps(blocks, eol)];
  return { bytes: bytesOf(joinLines(lines, eol), input.release), conflicts: [], outcome };
}

/** The settings of an env file by name; a name given twice counts as two keys. */
export function envMap(text: string): KeyedMap {
  const chunks: KeyedChunk[] = [];
  const seen = new Map<string, number>();
  let lead: string[] = [];
  for (const line of splitLines(text)) {
    const [, name, value = ''] = ASSIGNMENT.exec(line.replace(/\r?\n$/, '')) ?? [];
    if (name === undefined) {
      lead.push(line);
      continue;
    }
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const key = count === 1 ? name : `${name} (${count})`;
    chunks.push({ key, lead, head: [line], map: null, value: value.trim(), isEmpty: false });
    lead = [];
  }
  return { chunks, tail: lead, indent: '' };
}

function namesOf(line: string): readonly string[] {
  const name = ASSIGNMENT.exec(line.replace(/^\s*#+/, '').trimEnd())?.[1];
  return name === undefined ? [] : [name];
}

// The file gets copied to `.env`: a secret's example would then be taken for the secret.
function linesFor({ name, description, example, isSecret }: DeclaredSetting): readonly string[] {
  const looks = isSecret && example !== null ? [`Looks like ${example}`] : [];
  const comments = [...(description ?? '').split('\n'), ...looks].map((line) => line.trim());
  return [
    ...comments.filter((line) => line !== '').map((line) => `# ${line}`),
    `${name}=${quoteEnv(isSecret ? '' : (example ?? ''))}`,
  ];
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

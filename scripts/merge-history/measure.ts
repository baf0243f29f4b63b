import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { splitLines } from '../../packages/merge/src/lines/lines.ts';
import { appliedRules, reopeningOf } from '../../packages/merge/src/merge-lines.ts';
import { mergeText } from '../../packages/merge/src/merge-text.ts';
import { mergeFault } from '../../packages/merge/src/syntax/faults/merge-defects.ts';
import { formatOf, languageOf } from '../../packages/merge/src/syntax/language.ts';
import { parseSyntax } from '../../packages/merge/src/syntax/parse.ts';
import type { TreeFile, Versions } from '../../packages/merge/src/versions.ts';
import type { RealMerge } from './merges.ts';
import { countMovedOffers, type MovedOffers } from './moved-blocks.ts';

/** A result beside what was committed; `equal` leaves white space apart. */
export type Verdict = 'conflict' | 'equal' | 'different';

/** The figures of one file: what git and this engine make of it, and which rules had a say. */
export type Measured = {
  readonly merge: RealMerge;
  readonly text: string;
  readonly own: Verdict;
  readonly git: Verdict;
  readonly ownMs: number;
  readonly gitMs: number;
  readonly rules: readonly string[];
  readonly moved: MovedOffers;
  /** A newly clean file that does not parse although both sides do. */
  readonly isBroken: boolean;
  /** Errors about names that a newly clean program has and neither side. */
  readonly nameErrors: readonly string[];
};

/** Loads the parser, which a process does once, and returns the time that takes. */
export function timeParserLoad(): number {
  const start = performance.now();
  parseSyntax('', 'typescript', { tokens: false });
  return performance.now() - start;
}

/** Merges files one after the other, then times `git merge-file` of each, whose start is counted as well. */
export function measureAll(merges: Iterable<RealMerge>): readonly Measured[] {
  const folder = mkdtempSync(join(tmpdir(), 'bench-merge-file-'));
  try {
    const found = [...merges].map((merge, at) => measure(merge, join(folder, `${at}`)));
    const times = timeGit(folder);
    return found.map((one, at) => ({ ...one, gitMs: times[at] ?? Number.NaN }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(merge: RealMerge, folder: string): Omit<Measured, 'gitMs'> {
  mkdirSync(folder);
  const { base, ours, theirs, path, committed } = merge;
  const versions = { base, ours, theirs };
  const start = performance.now();
  const { text, conflicts } = mergeText(versions, { path });
  const ownMs = performance.now() - start;
  const own = verdictOf(conflicts === 0 ? text : null, committed);
  const git = verdictOf(merge.git, committed);
  for (const [name, text] of Object.entries(versions)) writeFileSync(join(folder, name), text);
  const rules = rulesOf(versions, path, own, git);
  const isNew = git === 'conflict' && own !== 'conflict';
  const isBroken = isNew && isFaulty(path, text, versions);
  const nameErrors = isNew ? freshNameErrors(path, { ...versions, merged: text }, folder) : [];
  const moved = countMovedOffers(merge);
  return { merge, text, own, git, ownMs, rules, moved, isBroken, nameErrors };
}

function verdictOf(text: string | null, committed: string): Verdict {
  if (text === null) return 'conflict';
  return squash(text) === squash(committed) ? 'equal' : 'different';
}

function squash(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function rulesOf(versions: Versions<string>, path: string, own: Verdict, git: Verdict) {
  const format = formatOf(path);
  const lines = {
    base: splitLines(versions.base),
    ours: splitLines(versions.ours),
    theirs: splitLines(versions.theirs),
  };
  if (own === git && own !== 'conflict') return [];
  if (own !== 'conflict') {
    const rules: readonly string[] = appliedRules(lines, format);
    return rules.length === 0 && git === 'conflict' ? ['lines'] : rules;
  }
  return git === 'conflict' ? [] : [`asked: ${reopeningOf(lines, format) ?? 'lines or names'}`];
}

function isFaulty(path: string, text: string, versions: Versions<string>): boolean {
  const fileOf = (side: string): TreeFile => ({ bytes: Buffer.from(side), isExecutable: false });
  const sides = {
    base: fileOf(versions.base),
    ours: fileOf(versions.ours),
    theirs: fileOf(versions.theirs),
  };
  return mergeFault(path, fileOf(text), sides) !== null;
}

const COMPILER = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
/** Looks at one file by itself: what is imported counts as declared, and as any type. */
const OPTIONS =
  '--noEmit --pretty false --noResolve --allowJs --checkJs --skipLibCheck --strict false ' +
  '--moduleDetection force --jsx preserve --target esnext --module esnext';
/** Errors about a name that is not declared, or declared twice. */
const ERROR =
  /^(merged|ours|theirs)\.tsx?\(.*?\): error (?:TS2300|TS2304|TS2393|TS2451|TS2552): (.*)$/gm;

/**
 * Lists the errors about names that a merged program has and neither side. Empty for what the compiler does not
 * read as a program.
 */
function freshNameErrors(
  path: string,
  versions: Versions<string> & { readonly merged: string },
  folder: string,
): readonly string[] {
  const language = languageOf(path);
  if (language === null || language === 'json' || language === 'declarations') return [];
  const extension = language === 'typescript' ? 'ts' : 'tsx';
  const files = (['merged', 'ours', 'theirs'] as const).map((name) => {
    const file = `${name}.${extension}`;
    writeFileSync(join(folder, file), versions[name]);
    return file;
  });
  const args = [COMPILER, ...OPTIONS.split(' '), ...files];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const found = [...stdout.matchAll(ERROR)].map(([, name, error = '']) => ({ name, error }));
  const known = new Set(found.filter(({ name }) => name !== 'merged').map(({ error }) => error));
  return found.flatMap(({ name, error }) =>
    name === 'merged' && !known.has(error) ? [error] : [],
  );
}

/** Times git in a process of its own: to start a program takes longer in one that has grown large. */
function timeGit(folder: string): readonly number[] {
  const script = join(import.meta.dirname, 'time-git.ts');
  const { stdout, status } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error('git merge-file could not be timed');
  return stdout.trim().split('\n').map(Number);
}

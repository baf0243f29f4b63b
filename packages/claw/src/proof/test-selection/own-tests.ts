import { basename, matchesGlob } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { DEFAULT_LIMITS, type ProofLimits } from '../../installed/config.ts';
import { treeReader } from '../../installed/disk.ts';
import type { OwnTests, ProofFailure, ProofFindings, ProofInput } from '../proof.ts';
import type { ProofFiles } from '../proof-files.ts';
import { failsAsBefore, failureOf } from '../report.ts';
import { failedBefore, type TrialRun, type Trials } from '../trial.ts';
import { failingFiles } from './failing-tests.ts';
import { relatedTests } from './related.ts';
import { openTestKeys } from './test-keys.ts';

/** `note` tells what did not run, null where everything did. */
type OwnFound = ProofFindings & { readonly ran: number; readonly note: string | null };

const NONE: OwnFound = { failures: [], warnings: [], ran: 0, note: null };
const CHANGED = '{changed}';
const FIRST_BATCH = 4;
const MAX_SHOWN = 3;
const LEAST_MS = 2000;
const LONGER_ALONE = 3;

/** The tests of the codebase itself that a proof runs, or the changed files for a tool that finds them; null for none. */
export type ChosenTests =
  | { readonly own: OwnTests; readonly changed: readonly string[] }
  | { readonly own: OwnTests; readonly found: readonly string[]; readonly isAll: boolean };

/** Chooses the tests of the codebase itself. It can run while programs run. */
export async function chooseOwn(input: ProofInput, files: ProofFiles): Promise<ChosenTests | null> {
  const { own = null, scope = 'related' } = input;
  const changed = changedPaths(input);
  if (own === null || scope === 'skills' || (scope === 'related' && changed.length === 0)) {
    return null;
  }
  if (own.command.includes(CHANGED)) return { own, changed };
  const isIn = (globs: readonly string[], path: string) =>
    globs.some((glob) => matchesGlob(path, glob));
  const tests = files.paths.filter(
    (path) => isIn(own.tests, path) && !isIn(own.except, path) && !path.startsWith('skills/'),
  );
  if (scope === 'all') return { own, found: tests, isAll: true };
  const isInBoth = (path: string) => isPresent(input, path) && files.has(path);
  const lone = new Set(changed.filter((path) => !isInBoth(path)));
  const found = await relatedTests({ changed, lone }, new Set(tests), files);
  return { own, found, isAll: false };
}

/** Runs tests of the codebase itself on the planned tree. */
export async function proveOwn(
  input: ProofInput,
  trials: Trials,
  chosen: ChosenTests | null,
): Promise<OwnFound> {
  if (chosen === null) return NONE;
  if ('changed' in chosen) return await proveByTool(input, trials, chosen);
  return await proveFiles(input, trials, chosen);
}

type SelectedTests = Extract<ChosenTests, { readonly isAll: boolean }>;

/** Runs test files nearest first, in batches that grow, until all have run or the time is over. */
async function proveFiles(
  input: ProofInput,
  trials: Trials,
  { own, found, isAll }: SelectedTests,
): Promise<OwnFound> {
  const { memory = null } = input;
  const { files, planned } = trials;
  const { command } = own;
  const isKeyed = memory !== null && found.length > 0;
  const keyOf = isKeyed ? await openTestKeys(input, planned, { files, command }) : null;
  const keys = new Map(found.map((path) => [path, keyOf?.(path) ?? null]));
  const hasPassed = (path: string) => {
    if (isAll) return false;
    const key = keys.get(path);
    return key != null && memory?.hasPassed(key) === true;
  };
  const chosen = isAll ? found : found.slice(0, own.most);
  const waiting = chosen.filter((path) => !hasPassed(path));
  const noteOf = (ended: number) => {
    if (ended === found.length) return null;
    const note = leftOut({ ran: ended, all: found.length, own, isAll });
    input.onProgress?.({ kind: 'note', text: note });
    return note;
  };
  const { limits = DEFAULT_LIMITS } = input;
  const longer = own.seconds * LONGER_ALONE;
  const aloneLimits = {
    ...limits,
    silence_seconds: Math.min(limits.silence_seconds, longer),
    cpu_seconds: Math.min(limits.cpu_seconds, longer),
  };
  const warnings: string[] = [];
  let ran = chosen.length - waiting.length;
  const end = performance.now() + own.seconds * 1000;
  let size = isAll ? waiting.length : FIRST_BATCH;
  for (let at = 0; at < waiting.length; size *= 2) {
    let batch = waiting.slice(at, at + size);
    const leftMs = Math.ceil(end - performance.now());
    // A batch needs more time than the start of a test runner.
    if (!isAll && (leftMs <= 0 || (at > 0 && leftMs < LEAST_MS))) break;
    const told = `${isAll ? 'all tests' : 'related tests'}: ${shortList(batch)}`;
    const parts = batch.length;
    // All of them end by themselves, or at a limit.
    const budget = isAll ? {} : { timeoutMs: leftMs };
    let run = await planned.run({ told, line: command, files: batch, parts, ...budget });
    let isCutOff = run.stop?.limit === 'time';
    const cutShort = isCutOff ? failingFiles(run.output, batch) : [];
    if (cutShort.length > 0) {
      const judged = await judge(input, trials, { command, batch: cutShort, run });
      warnings.push(...judged.warnings);
      if (judged.failures.length > 0) {
        return { failures: judged.failures, warnings, ran, note: null };
      }
    }
    const isAlone = isCutOff && at === 0 && !isAll;
    if (isAlone) {
      // On a slow machine one test at least has to run: the nearest, alone, until it hangs or has used more CPU time.
      batch = batch.slice(0, 1);
      const alone = {
        told: `related tests: ${shortList(batch)} alone`,
        line: command,
        files: batch,
      };
      run = await planned.run({ ...alone, limits: aloneLimits });
      isCutOff = isHung(run);
    }
    if (isAlone && isHung(run)) {
      const hung = await judgeHang(input, trials, { command, batch, run, limits: aloneLimits });
      return { ...hung, warnings, ran, note: hung.failures.length > 0 ? null : noteOf(ran) };
    }
    if (isCutOff) break;
    at += batch.length;
    ran += batch.length;
    if (run.isOk) {
      memory?.addPassed(batch.flatMap((path) => keys.get(path) ?? []));
      continue;
    }
    const judged = await judge(input, trials, { command, batch, run });
    warnings.push(...judged.warnings);
    if (judged.failures.length > 0) return { failures: judged.failures, warnings, ran, note: null };
  }
  return { failures: [], warnings, ran, note: noteOf(ran) };
}

type Batch = {
  readonly command: string;
  readonly batch: readonly string[];
  readonly run: TrialRun;
};

/**
 * Separates failures that a change causes from failures of the present tree and from flaky ones. A flaky
 * test, which no author of a skill can fix, must not stop the owner.
 */
async function judge(
  input: ProofInput,
  { planned, present, files }: Trials,
  { command, batch, run: first }: Batch,
): Promise<ProofFindings> {
  const named = failingFiles(first.output, batch);
  const suspects = named.length > 0 ? named : batch;
  const subject = { kind: 'own', name: shortList(suspects) } as const;
  const told = `related tests, again: ${subject.name}`;
  const parts = suspects.length;
  const run = await planned.run({ told, line: command, files: suspects, parts });
  if (run.isOk) {
    return { failures: [], warnings: [`${subject.name} failed once, and passed when run again.`] };
  }
  const known = suspects.filter((path) => isPresent(input, path) && files.has(path));
  if (known.length === suspects.length) {
    const asNow = { told: `related tests: ${shortList(known)}`, line: command, files: known };
    const before = await present.run(asNow);
    if (failedBefore(run, before)) {
      return { failures: [], warnings: [failsAsBefore(input, subject.name, run)] };
    }
  }
  const failures: readonly ProofFailure[] = [failureOf(input, subject, run)];
  return { failures, warnings: [] };
}

/** Tells a test that only the change makes hang from one that takes too long without it as well. */
async function judgeHang(
  input: ProofInput,
  { present, files }: Trials,
  { command, batch, run, limits }: Batch & { readonly limits: ProofLimits },
): Promise<{ readonly failures: readonly ProofFailure[] }> {
  if (!batch.every((path) => isPresent(input, path) && files.has(path))) return { failures: [] };
  const told = `related tests: ${shortList(batch)}`;
  const before = await present.run({ told, line: command, files: batch, limits });
  if (!before.isOk) return { failures: [] };
  return { failures: [failureOf(input, { kind: 'own', name: shortList(batch) }, run)] };
}

/** Hands the changed files to a tool that finds their tests by itself. */
async function proveByTool(
  input: ProofInput,
  { planned, present }: Trials,
  { own, changed }: { readonly own: OwnTests; readonly changed: readonly string[] },
): Promise<OwnFound> {
  const line = own.command.replaceAll(CHANGED, '{files}');
  const command = { told: `related tests: ${own.command}`, line, files: changed };
  const run = await planned.run({ ...command, timeoutMs: own.seconds * 1000 });
  if (run.isOk) return NONE;
  if (run.stop?.limit === 'time') {
    return {
      ...NONE,
      note: `related tests did not end within ${own.seconds} s, and prove nothing`,
    };
  }
  if (failedBefore(run, await present.run(command))) {
    return { ...NONE, warnings: [failsAsBefore(input, 'related tests', run)] };
  }
  return { ...NONE, failures: [failureOf(input, { kind: 'own', name: 'related tests' }, run)] };
}

/** Tells whether a command seemed to have no end. */
function isHung({ stop }: TrialRun): boolean {
  return stop?.limit === 'silence' || stop?.limit === 'cpu';
}

function leftOut(left: {
  readonly ran: number;
  readonly all: number;
  readonly own: OwnTests;
  readonly isAll: boolean;
}): string {
  const { ran, all, own, isAll } = left;
  if (isAll) return `${ran} of ${all} test files ran: the rest did not end in time`;
  const limit = ran < Math.min(all, own.most) ? `${own.seconds} s` : `${own.most} files`;
  return `${ran} of ${all} related test files ran within ${limit}, nearest first; --proof all runs every test`;
}

/** Returns the paths that the planned tree has otherwise than the present one, as far as its code can notice. */
function changedPaths({ root, changed, compared }: ProofInput): readonly string[] {
  const readDisk = treeReader(root);
  const presentOf = (path: string) =>
    compared?.files.has(path) ? (compared.files.get(path) ?? null) : readDisk(path);
  return [...changed].flatMap(([path, after]) => {
    const isSame = compared !== undefined && isSameFile(after, compared.files.get(path) ?? null);
    return isSame || areOnlyPackages(path, presentOf, after) ? [] : [path];
  });
}

function areOnlyPackages(
  path: string,
  presentOf: (path: string) => TreeFile | null,
  after: TreeFile | null,
): boolean {
  if (after === null || !namesPackages(path)) return false;
  const before = presentOf(path);
  if (before === null) return false;
  return isSameButForPackages(path, before.bytes.toString('utf8'), after.bytes.toString('utf8'));
}

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json'];

type Entries = Readonly<Record<string, unknown>>;

/** Tells whether npm reads the packages of a project from this file. */
function namesPackages(path: string): boolean {
  return ['package.json', ...LOCKS].includes(basename(path));
}

/**
 * Tells whether npm's package.json or lock file differs only in packages that are added or removed. No code of the
 * tree notices those: the versions of its imports stay.
 */
export function isSameButForPackages(path: string, before: string, after: string): boolean {
  if (!namesPackages(path)) return false;
  const isLock = LOCKS.includes(basename(path));
  const [old, now] = [parse(before), parse(after)];
  if (old === null || now === null) return false;
  return isLock ? isSameLock(old, now) : isSameManifest(old, now);
}

function isSameManifest(old: Entries, now: Entries): boolean {
  return (
    isDeepStrictEqual(without(old, KINDS), without(now, KINDS)) &&
    KINDS.every((kind) => agrees(old[kind] ?? {}, now[kind] ?? {}))
  );
}

function isSameLock(old: Entries, now: Entries): boolean {
  const [packages, nowPackages] = [old['packages'], now['packages']];
  if (!isEntries(packages) || !isEntries(nowPackages)) return false;
  const [root, nowRoot] = [packages[''], nowPackages['']];
  if (!isEntries(root) || !isEntries(nowRoot)) return false;
  return (
    isDeepStrictEqual(without(old, ['packages']), without(now, ['packages'])) &&
    isSameManifest(root, nowRoot) &&
    agrees(without(packages, ['']), without(nowPackages, ['']))
  );
}

/** Tells whether names that both have mean the same in both. */
function agrees(old: unknown, now: unknown): boolean {
  if (!isEntries(old) || !isEntries(now)) return false;
  return Object.entries(old).every(
    ([name, value]) => !Object.hasOwn(now, name) || isDeepStrictEqual(now[name], value),
  );
}

function without(entries: Entries, names: readonly string[]): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)));
}

function parse(text: string): Entries | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isEntries(parsed) ? parsed : null;
  } catch {
    return null; // Whatever it is, tests tell more.
  }
}

function isEntries(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent({ paths, compared }: ProofInput, path: string): boolean {
  const known = compared?.files.get(path);
  return known === undefined ? paths.includes(path) : known !== null;
}

function shortList(paths: readonly string[]): string {
  const more = paths.length - MAX_SHOWN;
  return [...paths.slice(0, MAX_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

import { join } from 'node:path';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { ClawError } from '../../errors.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { readConfig } from '../../installed/config.ts';
import { readInstallation, readInstalledPackages } from '../../installed/installation.ts';
import { listProjectFiles } from '../../installed/project-files.ts';
import { readState } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { runExclusive } from '../../operation/exclusive-run.ts';
import { lstat } from '../../package/regular-file.ts';
import { joinTransactions } from '../../transaction/join.ts';
import { listTransactions, type TransactionSummary } from '../../transaction/records.ts';
import { parents } from '../../transaction/recover.js';
import type { ReadCode } from '../pack/code-facts.ts';
import { packUpdate } from '../pack/renew-package.ts';
import { findRenewable } from '../pack/renewal-input.ts';
import { type Watch, watchFolders } from './watch.ts';

/** The result of one save: that of `claw pack --update`, or an error. */
export type RoundResult = VerbResult<'pack' | 'dev'>;

/** Events for the developer of a skill, as they happen. */
export type DevelopEvent =
  | { readonly kind: 'watching'; readonly skill: string; readonly version: string }
  /** A save has edits of the skill, which are tried now: that takes as long as the checks and tests take. */
  | { readonly kind: 'checking'; readonly paths: readonly string[] }
  /** The outcome of a save; `paths` are the files that were saved since the last time. */
  | {
      readonly kind: 'round';
      readonly paths: readonly string[];
      readonly result: RoundResult;
      readonly milliseconds: number;
    };

export type DevelopOptions = {
  /** Edits that belong to the skill beside those of its own files. */
  readonly named: readonly string[];
  /** Ends after the edits that are there now. */
  readonly isOnce: boolean;
  readonly onEvent: (event: DevelopEvent) => void;
  readonly readCode?: ReadCode;
};

/**
 * Keeps a package in step with the tree: at each save, the edits that belong to it are proved and folded in. An edit
 * that fails its proof stays an edit, so the package always passes. All rounds together are one command for `undo`.
 * Ends when the context's signal is aborted.
 *
 * @throws ClawError SKILL_NOT_FOUND, SKILL_NOT_APPLIED, USAGE
 */
export async function develop(
  context: EngineContext,
  name: string,
  options: DevelopOptions,
): Promise<VerbResult<'dev'>> {
  const { root } = context;
  const { version, folder } = await findStart(context, name);
  const { named, readCode } = options;
  const session: Session = {
    named,
    published: version,
    joined: null,
    ...(readCode ? { readCode } : {}),
  };
  if (options.isOnce) {
    const result = await round(context, name, session);
    return { ...result, verb: 'dev' };
  }
  const paths = [
    ...(await listProjectFiles(root, readConfig(root))),
    ...listFolder(`${root}/${folder}`).map((path) => `${folder}/${path}`),
  ];
  const watch = watchFolders(root, paths);
  try {
    options.onEvent({ kind: 'watching', skill: name, version });
    return await loop(context, name, { ...options, session, watch });
  } finally {
    watch.close();
  }
}

type Session = {
  readonly named: readonly string[];
  /** The version that others may have: it is raised once, whatever git can tell. */
  readonly published: string;
  /** The transaction that holds all rounds so far. */
  joined: TransactionSummary | null;
  readonly readCode?: ReadCode;
};

type Loop = DevelopOptions & { readonly session: Session; readonly watch: Watch };

async function loop(
  context: EngineContext,
  name: string,
  { session, watch, onEvent }: Loop,
): Promise<VerbResult<'dev'>> {
  const end = context.signal ?? new AbortController().signal;
  let paths: readonly string[] = [];
  let rounds = 0;
  let last: RoundResult | null = null;
  let told = '';
  let isBroken = false;
  let written: ReadonlySet<string> = new Set();
  let checking = '';
  while (!end.aborted) {
    const startedAt = performance.now();
    const saved = shown(context.root, paths, written);
    // Told once there is something to try: a log of this very command below the tree must not feed itself.
    // A save that is followed by another of the same files is tried again, and need not be told again.
    const onProgress: EngineContext['onProgress'] = (progress) => {
      if (
        (progress.kind === 'step' || progress.kind === 'started') &&
        saved.length > 0 &&
        saved.join('\n') !== checking
      ) {
        checking = saved.join('\n');
        onEvent({ kind: 'checking', paths: saved });
      }
      context.onProgress(progress);
    };
    // A save during a proof makes it one of yesterday's files. But who saves faster than proofs end is to
    // hear of one all the same: of two rounds in a row, one goes to its end.
    const stale = new AbortController();
    const forget = isBroken ? () => {} : watch.onChange(() => stale.abort());
    const signal = AbortSignal.any([end, stale.signal]);
    const result = await resultOrFailure(round({ ...context, onProgress, signal }, name, session));
    forget();
    isBroken = result.error?.code === 'INTERRUPTED';
    if (isBroken) {
      paths = [...new Set([...paths, ...(end.aborted ? [] : await watch.next(end))])].sort();
      continue;
    }
    // Another command has the lock: waiting for it is what the next attempt begins with.
    if (result.error?.code === 'LOCK_HELD') continue;
    rounds += 1;
    last = result;
    // The writes of a round are noticed as well, and come to nothing: that is no news.
    const news = JSON.stringify([result.error?.message, leftIn(result)]);
    if (result.outcome !== 'nothing' || news !== told) {
      const milliseconds = performance.now() - startedAt;
      onEvent({ kind: 'round', paths: saved, result, milliseconds });
    }
    told = news;
    checking = '';
    written = new Set(result.changes.map(({ path }) => path));
    paths = await watch.next(end);
  }
  const layer = readState(context.root)?.layers.find((one) => one.name === name);
  const data = {
    skill: name,
    version: layer?.version ?? null,
    rounds,
    isIn: last === null || last.outcome === 'done' || last.outcome === 'nothing',
    // The end came before the last save was tried, or before anything was.
    isUntried: shown(context.root, paths, written).length > 0 || (isBroken && rounds === 0),
  };
  return resultOf('dev', 'done', { data });
}

/**
 * Returns the saved files to show: no folders, no files that the last round wrote, no temporary files of an
 * editor.
 */
function shown(
  root: string,
  paths: readonly string[],
  written: ReadonlySet<string>,
): readonly string[] {
  const ours = new Set([...written].flatMap((path) => [path, ...parents(path)]));
  const others = paths.filter(
    (path) => !ours.has(path) && lstat(join(root, path))?.isDirectory() !== true,
  );
  const there = others.filter((path) => lstat(join(root, path)) !== null);
  return there.length > 0 ? there : others;
}

function leftIn({ data }: RoundResult): unknown {
  return data !== null && 'left' in data ? data.left : null;
}

async function findStart(
  context: EngineContext,
  name: string,
): Promise<{ readonly version: string; readonly folder: string }> {
  const installation = await readInstallation(context.root);
  const request = { name, named: [] };
  const { applied, folder } = findRenewable(
    installation,
    readInstalledPackages(installation),
    request,
  );
  if (applied !== null) return { version: applied.manifest.version, folder };
  throw new ClawError(
    'SKILL_NOT_APPLIED',
    `${name} is not applied here: claw apply ${name} hands your edits over to it, then claw dev ${name}.`,
    { data: { nearest: [] } },
  );
}

async function round(
  context: EngineContext,
  name: string,
  session: Session,
): Promise<VerbResult<'pack'>> {
  const { joined: _, ...own } = session;
  const options = { ...own, level: null };
  return await runExclusive(context, 'dev', async () => {
    const [before] = listTransactions(context.root);
    const result = await packUpdate(
      { ...context, proof: context.proof ?? 'skills' },
      name,
      options,
    );
    if (result.outcome !== 'done') return result;
    const warnings = joinRounds(context.root, session, before);
    return { ...result, warnings: [...result.warnings, ...warnings] };
  });
}

/**
 * Joins the transaction of this round with those before. Undo keeps ten commands: a session of fifty saves
 * must not push out the commands before it. The round is published by then, so a failing disk only leaves it
 * a command of its own.
 *
 * @param before the newest transaction before this round
 * @returns warnings
 */
function joinRounds(
  root: string,
  session: Session,
  before: TransactionSummary | undefined,
): readonly string[] {
  const [newest] = listTransactions(root);
  // The next command ends this round's transaction: nothing is there yet to be joined.
  if (newest === undefined || newest.id === before?.id) return [];
  try {
    if (session.joined !== null) joinTransactions(root, session.joined, newest);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      `This save is in, but could not be joined with those before, so claw undo takes it back alone: ${why}`,
    ];
  } finally {
    session.joined = listTransactions(root)[0] ?? null;
  }
}

async function resultOrFailure(work: Promise<VerbResult<'pack'>>): Promise<RoundResult> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return resultOf('dev', 'failed', { error });
  }
}

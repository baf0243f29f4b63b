import { resultOf, type VerbResult } from './contract/result.ts';
import type { Choice } from './decisions/choice.ts';
import type { Digest } from './digest.ts';
import { ClawError } from './errors.ts';
import type { ReleaseRequest } from './installed/release.ts';
import type { EngineContext } from './operation/context.ts';
import { needsDecision, runExclusive, runReadOnly } from './operation/exclusive-run.ts';
import type { UpdateOptions } from './operation/update-options.ts';
import type { Decision } from './transaction/journal.ts';
import { withLock } from './transaction/lock.ts';
import { hasPending, recover as recoverTree } from './transaction/recover.js';
import type { DevelopOptions } from './verbs/dev/develop.ts';
import type { MatrixRequest } from './verbs/matrix/matrix.ts';
import type { PackOptions } from './verbs/pack/pack.ts';
import type { RenewOptions } from './verbs/pack/renewal-input.ts';
import type { PlannedVerb } from './verbs/plan.ts';

// Each verb is loaded when it is called: most of the time that `claw status` takes is loading. So nothing
// is exported here whose module loads the parts of the engine; `index.ts` is for that.

export type { Conflict, ConflictKind } from './conflict.ts';
export type { Change, DataOf, ResultWith, Verb, VerbResult } from './contract/result.ts';
export type { Choice } from './decisions/choice.ts';
export { ClawError, CodedError, type ErrorCode, shellWord, shellWords } from './errors.ts';
export { findRoot } from './installed/project-root.ts';
export type {
  EngineContext,
  ModelPrompt,
  ModelReply,
  PlanSummary,
  ProgressEvent,
} from './operation/context.ts';
export type { UpdateOptions } from './operation/update-options.ts';
export type { ProofScope } from './proof/proof.ts';
export type { DevelopEvent, RoundResult } from './verbs/dev/develop.ts';
export type { CellOutcome, MatrixCell, MatrixData } from './verbs/matrix/input.ts';
export type { MatrixRequest } from './verbs/matrix/matrix.ts';
export type { CodeFacts } from './verbs/pack/code-facts.ts';

/** Takes the core of a codebase. Writes nothing outside `.claw/`. */
export async function init(
  context: EngineContext,
  request: ReleaseRequest,
): Promise<VerbResult<'init'>> {
  const { planInit } = await import('./verbs/init.ts');
  const { carryOut } = await import('./operation/operation.ts');
  return await runExclusive(context, 'init', async () =>
    carryOut(context, await planInit(context, request)),
  );
}

/**
 * Sets up a fork: the release is where its history and upstream's part, and what was changed since becomes layers.
 * Writes nothing outside `.claw/` and git's own refs.
 *
 * @param wanted upstream: an address, a remote, or a ref
 */
export async function adopt(
  context: EngineContext,
  wanted: string,
  way: string,
): Promise<VerbResult<'adopt'>> {
  const { findUpstream } = await import('./verbs/adopt/upstream.ts');
  const { topicWay } = await import('./verbs/adopt/topics.ts');
  const by = topicWay(way);
  const upstream = await findUpstream(context, wanted);
  const { planAdopt } = await import('./verbs/adopt/adopt.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const asking = context.ask === undefined ? context : { ...context, ask: onlyOnce(context.ask) };
  const result = await runExclusive(context, 'adopt', async () =>
    carryOut(context, await planAdopt(asking, upstream, by)),
  );
  await upstream.keep();
  return result;
}

/** Applies skills: one operation, all of them or none. */
export async function apply(
  context: EngineContext,
  wanted: readonly string[],
  request?: ReleaseRequest,
): Promise<VerbResult<'apply'>> {
  const { readConfig } = await import('./installed/config.ts');
  const { listAhead } = await import('./installed/project-files.ts');
  // git lists the files while the rest is loaded.
  const listing = listAhead(context.root, readConfig(context.root));
  const { planApply, requestPackages } = await import('./verbs/apply.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const { createTreesReader } = await import('./installed/release.ts');
  const readTrees = createTreesReader();
  const given = { readTrees, listing, ...(request ? { request } : {}) };
  const requested = await requestPackages(context, wanted, given);
  return await runExclusive(context, 'apply', async () =>
    carryOut(context, await planApply(context, requested, request, readTrees)),
  );
}

/** Takes skills out again: the same layers without them. */
export async function remove(
  context: EngineContext,
  names: readonly string[],
): Promise<VerbResult<'remove'>> {
  const { planRemove } = await import('./verbs/remove.ts');
  const { carryOut } = await import('./operation/operation.ts');
  return await runExclusive(context, 'remove', async () =>
    carryOut(context, await planRemove(context, names)),
  );
}

/** Replaces applied skills by what their sources hold now; without names, all of them. */
export async function upgrade(
  context: EngineContext,
  names: readonly string[],
): Promise<VerbResult<'upgrade'>> {
  const { planUpgrade, requestUpgrade } = await import('./verbs/upgrade.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const requested = await requestUpgrade(context, names);
  return await runExclusive(context, 'upgrade', async () =>
    carryOut(context, await planUpgrade(context, names, requested)),
  );
}

/** Composes what `state.yaml` lists on the core of this clone. */
export async function replay(context: EngineContext): Promise<VerbResult<'replay'>> {
  const { planReplay } = await import('./verbs/replay.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const { withEarlyBase } = await import('./operation/early-base.ts');
  return await runExclusive(context, 'replay', () =>
    withEarlyBase(context.root, context.signal, async (early) =>
      carryOut(context, await planReplay(context, early.bring), early),
    ),
  );
}

/**
 * Brings another release of the core under the same layers and edits. Where nothing is installed yet, it takes the
 * present core first, as `init` does, and forgets it again if the update is refused or has nothing to do.
 *
 * @param wanted null for the newest release that git has a tag of
 */
export async function update(
  context: EngineContext,
  wanted: string | null,
  options: Partial<UpdateOptions> = {},
): Promise<VerbResult<'update'>> {
  const { root } = context;
  const { stateDigest } = await import('./installed/state-file.ts');
  const { findNewestTag, locateRelease } = await import('./verbs/update/new-release.ts');
  const { planUpdate } = await import('./verbs/update/update.ts');
  const { PLAIN_UPDATE } = await import('./operation/update-options.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const ask = context.ask === undefined ? null : onlyOnce(context.ask);
  const given = { ...PLAIN_UPDATE, ...options };
  let first: Digest | null = null;
  const run = async (): Promise<VerbResult<'update'>> => {
    const found = wanted === null ? await findNewestTag(root) : null;
    if (found?.kind === 'none') return resultOf('update', 'nothing', { warnings: [found.text] });
    // Which release is here, the owner has said to what recorded it just now.
    const named = first === null ? given : { ...given, release: null };
    const ref = found?.tag ?? wanted ?? '';
    return await carryOut(context, await planUpdate(context, ref, named, ask));
  };
  return await runExclusive(context, 'update', async () => {
    if (stateDigest(root) !== null) return await run();
    if (wanted !== null) await locateRelease(context, wanted);
    // The present core has to be known before another one can take its place: edits are counted from it.
    first = await recordFirst(context, given.release);
    try {
      const result = await run();
      if (result.outcome === 'nothing') await forgetFirst(context, first);
      return result;
    } catch (error) {
      // An update that is planned again counts the edits from the same core, and not from the edited tree.
      const isAgain = error instanceof ClawError && error.code === 'TREE_CHANGED';
      if (!isAgain) await forgetFirst(context, first);
      throw error;
    }
  });
}

/** Records the present core, without a question. @returns the digest of the state that says so */
async function recordFirst(context: EngineContext, release: string | null): Promise<Digest | null> {
  const { planInit } = await import('./verbs/init.ts');
  const { carryOut } = await import('./operation/operation.ts');
  const { stateDigest } = await import('./installed/state-file.ts');
  const { expect: _, ...plain } = { ...context, confirm: null };
  await carryOut(plain, await planInit(plain, { release, coreVersion: null }));
  return stateDigest(context.root);
}

/** Takes that record back, unless something was published on it. */
async function forgetFirst(context: EngineContext, recorded: Digest | null): Promise<void> {
  const { stateDigest } = await import('./installed/state-file.ts');
  if (hasPending(context.root) || stateDigest(context.root) !== recorded) return;
  const verbs = await import('./verbs/undo.ts');
  const { expect: _, signal: __, ...plain } = context;
  await verbs.undo(plain);
}

/** Asks each question once: a tree that is edited meanwhile is planned again, with the same answers. */
function onlyOnce(ask: (question: string) => Promise<boolean>): typeof ask {
  const answers = new Map<string, Promise<boolean>>();
  return (question) => {
    const answer = answers.get(question) ?? ask(question);
    answers.set(question, answer);
    return answer;
  };
}

/** Records the owner's edits as a layer of their own. */
export async function customize(
  context: EngineContext,
  description: string,
): Promise<VerbResult<'customize'>> {
  const { planCustomize } = await import('./verbs/customize.ts');
  const { carryOut } = await import('./operation/operation.ts');
  return await runExclusive(context, 'customize', async () =>
    carryOut(context, await planCustomize(context, description)),
  );
}

/** Makes one customisation of all layers and edits. */
export async function rebase(context: EngineContext): Promise<VerbResult<'rebase'>> {
  const { planRebase } = await import('./verbs/rebase.ts');
  const { carryOut } = await import('./operation/operation.ts');
  return await runExclusive(context, 'rebase', async () =>
    carryOut(context, await planRebase(context)),
  );
}

/** Makes a package under `skills/` of edits. */
export async function pack(
  context: EngineContext,
  name: string,
  options: PackOptions,
): Promise<VerbResult<'pack'>> {
  const verbs = await import('./verbs/pack/pack.ts');
  return await runExclusive(context, 'pack', () => verbs.pack(context, name, options));
}

/** Renews a package: for the present core and with the edits of its files folded in. */
export async function renewPackage(
  context: EngineContext,
  name: string,
  options: RenewOptions,
): Promise<VerbResult<'pack'>> {
  const { packUpdate } = await import('./verbs/pack/renew-package.ts');
  return await runExclusive(context, 'pack', () => packUpdate(context, name, options));
}

/** Keeps a skill's package in step with the tree, at each save; ends when the signal is aborted. */
export async function develop(
  context: EngineContext,
  name: string,
  options: DevelopOptions,
): Promise<VerbResult<'dev'>> {
  const verbs = await import('./verbs/dev/develop.ts');
  return await verbs.develop(context, name, options);
}

/** Returns the conflicts of the operation that waits; with `answers` also a file of answers to fill in. */
export async function conflicts(
  context: EngineContext,
  options: { readonly answers?: boolean } = {},
): Promise<VerbResult<'conflicts'>> {
  const verbs = await import('./verbs/conflicts/conflicts.ts');
  return await runReadOnly(context, async () => verbs.conflicts(context, options));
}

/** Resolves one conflict of the operation that waits; nothing is published yet. */
export async function resolve(
  context: EngineContext,
  path: string,
  choice: Choice,
): Promise<VerbResult<'resolve'>> {
  const { resolveConflict } = await import('./verbs/resolve/resolve.ts');
  return await runExclusive(context, 'resolve', () => resolveConflict(context, path, choice));
}

/** Resolves a conflict of an update that waits by the place that the release moved the file to. */
export async function resolveMoved(
  context: EngineContext,
  path: string,
  to: string,
): Promise<VerbResult<'resolve'>> {
  const verbs = await import('./verbs/resolve/resolve.ts');
  return await runExclusive(context, 'resolve', () => verbs.resolveMoved(context, path, to));
}

/** Resolves every open conflict of the operation that waits in one way: all that can be, or none. */
export async function resolveAll(
  context: EngineContext,
  choice: Choice,
): Promise<VerbResult<'resolve'>> {
  const verbs = await import('./verbs/resolve/resolve.ts');
  return await runExclusive(context, 'resolve', () => verbs.resolveAll(context, choice));
}

/** Resolves conflicts of the operation that waits by a file of answers: all of them or none. */
export async function resolveByAnswers(
  context: EngineContext,
  file: string,
): Promise<VerbResult<'resolve'>> {
  const { resolveAnswered } = await import('./verbs/resolve/resolve.ts');
  const { readAnswers } = await import('./decisions/answers.ts');
  const answers = readAnswers(context.cwd, file);
  return await runExclusive(context, 'resolve', () => resolveAnswered(context, answers));
}

/**
 * Lets the owner's model resolve a conflict of the operation that waits, or all that are open; what it
 * proposes is proved before it counts, and nothing is published yet.
 */
export async function resolveByModel(
  context: EngineContext,
  path: string | null,
): Promise<VerbResult<'resolve'>> {
  return await askAndResolve(context, path, { isProposal: false });
}

/** Does the same for one conflict, as a proposal to look at: its `choice` is for `resolve`. */
export async function proposeByModel(
  context: EngineContext,
  path: string,
): Promise<VerbResult<'resolve'>> {
  return await askAndResolve(context, path, { isProposal: true });
}

/** Asks a model without the lock: it may take minutes, and other commands need not wait. */
async function askAndResolve(
  context: EngineContext,
  path: string | null,
  options: { readonly isProposal: boolean },
): Promise<VerbResult<'resolve'>> {
  const verbs = await import('./verbs/resolve/propose.ts');
  const inquiry = await runReadOnly(context, () => verbs.readInquiry(context, path));
  const answered = await verbs.askAll(context, inquiry);
  return await runExclusive(context, 'resolve', () =>
    verbs.resolveByModel(context, inquiry, answered, options),
  );
}

/**
 * Goes on with the operation that waits, as it was decided.
 *
 * @param options with `isTrial` it is only proved
 */
export async function continueOperation(
  context: EngineContext,
  options: { readonly isTrial?: boolean } = {},
): Promise<VerbResult<'continue'>> {
  const verbs = await import('./verbs/continue.ts');
  return await runExclusive(context, 'continue', () => verbs.continueOperation(context, options));
}

/** Returns the recorded resolutions. */
export async function resolutions(context: EngineContext): Promise<VerbResult<'resolutions'>> {
  const { listResolutions } = await import('./verbs/resolutions.ts');
  return await runReadOnly(context, async () => listResolutions(context));
}

/** Forgets one recorded resolution. */
export async function forgetResolution(
  context: EngineContext,
  key: string,
): Promise<VerbResult<'resolutions'>> {
  const verbs = await import('./verbs/resolutions.ts');
  return await runExclusive(context, 'resolutions', async () =>
    verbs.forgetResolution(context, key),
  );
}

/** Prints what a verb would do, and touches nothing. */
export async function plan(
  context: EngineContext,
  planned: PlannedVerb,
): Promise<VerbResult<'plan'>> {
  const verbs = await import('./verbs/plan.ts');
  return await runReadOnly(context, () => verbs.plan(context, planned));
}

/** Reports what is installed, which operation waits, and the owner's edits. */
export async function status(context: EngineContext): Promise<VerbResult<'status'>> {
  const verbs = await import('./verbs/status.ts');
  return await runReadOnly(context, () => verbs.status(context));
}

/** Lists the applied layers, or with `available` the packages in `skills/`. */
export async function list(
  context: EngineContext,
  options: { readonly available: boolean },
): Promise<VerbResult<'list'>> {
  const verbs = await import('./verbs/list.ts');
  return await runReadOnly(context, async () =>
    options.available ? verbs.listAvailable(context) : verbs.list(context),
  );
}

/** Shows what a skill is, what it brings, and whether it is in. */
export async function show(context: EngineContext, wanted: string): Promise<VerbResult<'show'>> {
  const verbs = await import('./verbs/show.ts');
  return await runReadOnly(context, () => verbs.show(context, wanted));
}

/** Lists the commands that `undo` can take back, newest first. */
export async function log(context: EngineContext): Promise<VerbResult<'log'>> {
  const verbs = await import('./verbs/log.ts');
  return await runReadOnly(context, async () => verbs.log(context));
}

/** Compares disk, state and composition. */
export async function verify(context: EngineContext): Promise<VerbResult<'verify'>> {
  const verbs = await import('./verbs/verify.ts');
  return await runReadOnly(context, () => verbs.verify(context));
}

/** Composes skills alone, in pairs and in triples, and proves the results: tells which go together. */
export async function matrix(
  context: EngineContext,
  request: MatrixRequest,
): Promise<VerbResult<'matrix'>> {
  const verbs = await import('./verbs/matrix/matrix.ts');
  const { readMatrixInput } = await import('./verbs/matrix/input.ts');
  const { skills, release } = request;
  const input = await runReadOnly(context, () => readMatrixInput(context, skills, release));
  return await verbs.matrix(context, request, input);
}

/** Names the owners of lines of a file: `src/a.ts`, `src/a.ts:12` or `src/a.ts:12-20`. */
export async function why(context: EngineContext, place: string): Promise<VerbResult<'why'>> {
  const verbs = await import('./verbs/why/why.ts');
  return await runReadOnly(context, () => verbs.why(context, place));
}

/** Shows a layer's changes as a patch; without a name, the owner's edits. */
export async function diff(
  context: EngineContext,
  name: string | null,
): Promise<VerbResult<'diff'>> {
  const verbs = await import('./verbs/diff.ts');
  return await runReadOnly(context, () => verbs.diff(context, name));
}

/** Looks at everything that commands rely on, whatever state it is in, and says what can be done. */
export async function doctor(context: EngineContext): Promise<VerbResult<'doctor'>> {
  const verbs = await import('./verbs/doctor/doctor.ts');
  return await verbs.doctor(context);
}

/** Takes back the last transaction; what the owner edited since stays. */
export async function undo(context: EngineContext): Promise<VerbResult<'undo'>> {
  const verbs = await import('./verbs/undo.ts');
  return await runExclusive(context, 'undo', () => verbs.undo(context));
}

/** Forgets the operation that waits for decisions. Does no harm when none does. */
export async function abort(context: EngineContext): Promise<VerbResult<'abort'>> {
  const { clearPending } = await import('./pending/pending.ts');
  return await runExclusive(context, 'abort', async () =>
    resultOf('abort', clearPending(context.root) ? 'done' : 'nothing'),
  );
}

/**
 * Finishes what a killed command left.
 *
 * @throws ClawError RECOVERY_NEEDS_DECISION, LOCK_HELD
 */
export async function recover(
  context: EngineContext,
  decision: Decision | null,
): Promise<VerbResult<'recover'>> {
  const { adoptPending } = await import('./pending/pending.ts');
  return await withLock(context.root, { verb: 'recover' }, () => {
    const recovery = recoverTree(context.root, decision, { isLocked: true });
    if (recovery.outcome === 'needs-decision') throw needsDecision(recovery);
    const isAdopted = decision === 'adopt' && adoptPending(context.root);
    const data = { outcome: recovery.outcome, verb: recovery.verb, kept: recovery.kept };
    return resultOf('recover', recovery.outcome === 'nothing' && !isAdopted ? 'nothing' : 'done', {
      data,
    });
  });
}

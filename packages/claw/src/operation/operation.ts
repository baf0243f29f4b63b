import type { FileChange } from '../compose/plan.ts';
import type { ResolvedConflict } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import type { DataOf, Outcome, TreeVerb, VerbResult } from '../contract/result.ts';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { saveBaseDigests } from '../installed/file-digests.ts';
import type { Installation } from '../installed/installation.ts';
import type { Release } from '../installed/release.ts';
import { type LayerState, rememberState } from '../installed/state-file.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import { targetsOf } from '../package/checks/targets.ts';
import type { SkillPackage } from '../package/package.ts';
import {
  clearPending,
  isSameCall,
  readPending,
  replacedNotes,
  tidyUp,
} from '../pending/pending.ts';
import { withDecided, writePending } from '../pending/waiting.ts';
import { commitSteps } from '../transaction/commit.ts';
import type { Step } from '../transaction/journal.ts';
import { checkConsent, consentBeforeConflicts, newOverrides, overrideNote } from './consent.ts';
import type { EngineContext, PlanningContext } from './context.ts';
import type { EarlyBase } from './early-base.ts';
import { intentNotes } from './intent-notes.ts';
import { preparePackages } from './npm/npm.ts';
import { planDigest, refuseOtherPlan } from './plan-digest.ts';
import type { Operation, Report } from './planned-operation.ts';
import { followedNotes } from './planned-tree/planned-tree.ts';
import { proveTree } from './prove-plan.ts';
import { keepResolutions } from './recordings.ts';
import { coreState, prepareBase, releaseReader, sweepPrepared } from './release-state.ts';
import { reportChanges } from './report.ts';
import { noteSecrets, readOwnValues } from './secrets.ts';
import { stateSteps, stepOf } from './state-steps.ts';

/** Reports a plan in the form that every verb uses. */
export function reportOperation<V extends TreeVerb>(
  operation: Operation<V>,
  outcome: Outcome,
): Report<V> {
  const { verb, plan, warnings } = operation;
  const subject = [verb, ...operation.arguments].join(' ');
  // `remove` causes all of its changes, even in files that other layers touch.
  const causes = verb === 'remove' ? null : plan.target;
  return {
    verb,
    outcome,
    error: null,
    changes: reportChanges([...plan.changes, ...extraChanges(operation)], causes, subject),
    conflicts: plan.conflicts,
    warnings: [
      ...(operation.installation.taken?.warnings ?? []),
      ...secretsTaken(operation.installation),
      ...warnings,
      ...newOverrides(operation).map(overrideNote),
      ...resolvedNotes(plan.resolvedConflicts),
      ...followedNotes(plan),
    ],
    data: {
      plan: planDigest(operation),
      // Repeats these from the warnings: a chat may leave out warnings that are no news.
      assumed: operation.installation.taken?.warnings ?? [],
      skills: plan.layers.map(({ manifest }) => ({
        name: manifest.skill,
        version: manifest.version,
      })),
      sources: originsOf(plan.layers, operation.installed, operation.pin),
      packages: packagesBrought(operation),
      settings: settingsBrought(operation),
      requiredSettings: requiredSettings(operation),
      settingsGone: settingsGone(operation),
      settled: plan.resolvedConflicts.map(({ conflict, keys, decision }) => ({
        path: conflict.path,
        layers: conflict.layers,
        by: decision?.origin ?? keys,
      })),
      ...operation.data,
    },
  };
}

/** The source of a layer, and the paths of the project that it touches. */
type Origin = Pick<LayerState, 'name' | 'source' | 'version' | 'digest' | 'commit'> & {
  readonly touches: readonly string[];
};

/** Returns the origins of the layers that a command brings; those that stay are left out. */
function originsOf(
  layers: readonly SkillPackage[],
  installed: readonly SkillPackage[],
  pin: (layer: SkillPackage) => LayerState,
): readonly Origin[] {
  const present = new Set(installed.map(({ digest }) => digest));
  return layers
    .filter(({ kind, digest }) => kind === 'skill' && !present.has(digest))
    .map((layer) => {
      const { name, source, version, digest, commit } = pin(layer);
      const touches = targetsOf(layer.manifest);
      return { name, source, version, digest, ...(commit ? { commit } : {}), touches };
    });
}

/** Returns a report as `plan` prints it. @param foreseen things that only a plan tells */
export function asPlan<V extends TreeVerb>(
  report: Report<V>,
  foreseen: Pick<
    Extract<DataOf<'plan'>, { verb: 'update' }>,
    'consent' | 'installScripts' | 'patches'
  >,
): VerbResult<'plan'> {
  const { verb, data } = report;
  // Data of one verb beside its name: TypeScript cannot tell that it is one of the union.
  return { ...report, verb: 'plan', data: { verb, ...data, ...foreseen } as DataOf<'plan'> };
}

/** Warns of secrets that the first command copies from a core that is in no commit. */
function secretsTaken({ root, taken }: Installation): readonly string[] {
  return taken?.from === 'disk' ? noteSecrets(taken.files, readOwnValues(root)) : [];
}

/**
 * Proves a planned command and commits it. The caller holds the lock and has recovered.
 *
 * @param early a release that is being written since before the plan was made
 * @throws ClawError CONSENT_NEEDED, PLAN_CHANGED, NPM_FAILED, CHECKS_FAILED, TESTS_FAILED, BACKUP_FAILED,
 *   TREE_CHANGED (plan again)
 */
export async function carryOut<V extends TreeVerb>(
  context: PlanningContext,
  operation: Operation<V>,
  early: EarlyBase | null = null,
): Promise<Report<V>> {
  const { root } = context;
  const { plan } = operation;
  const losses = operation.losses ?? [];
  const report = reportOperation(operation, 'done');
  if (operation.isIdle === true) {
    if (isWaitingOne(context, operation)) tidyUp(() => clearPending(root));
    return { ...report, outcome: 'nothing' };
  }
  const warnings = report.warnings.filter((warning) => !losses.includes(warning));
  const planned = { ...report, warnings };
  if (plan.conflicts.length > 0) {
    const replaced = notesOfReplaced(context, operation);
    const consent = await consentBeforeConflicts(context, operation);
    keepWaiting({ ...context, allow: consent.allow }, operation);
    const all = [...warnings, ...replaced, ...consent.warnings];
    return { ...planned, outcome: 'blocked', warnings: all };
  }
  refuseOtherPlan(context, planDigest(operation));
  checkConsent(operation, context.allow);
  for (const loss of losses) context.onProgress({ kind: 'note', text: loss });
  await askForYes(context, operation, planned);
  const packages = await preparePackages(context, operation);
  try {
    const [proved, base] = await proveAndPrepare(context, operation, packages, early);
    throwIfInterrupted(context.signal);
    const { checks, tests, reused, own, note } = proved;
    const data = { ...planned.data, proof: { checks, tests, reused, own, note } };
    if (context.isTrial === true) {
      const all = [...warnings, ...proved.warnings];
      return { ...planned, data: { ...data, isTrial: true }, warnings: all };
    }
    await context.beforePublish?.(operation.verb);
    const isChanged = commit(context, operation, packages, base);
    const replaced = isChanged ? notesOfReplaced(context, operation) : [];
    // A command that changed nothing leaves what waits, unless it is what waited.
    if (isChanged || isWaitingOne(context, operation)) tidyUp(() => clearPending(root));
    const outcome = isChanged ? 'done' : 'nothing';
    const changes = [...planned.changes, ...packages.changes].sort((one, other) =>
      one.path < other.path ? -1 : 1,
    );
    const all = [...warnings, ...proved.warnings, ...replaced];
    return { ...planned, data, outcome, changes, warnings: all };
  } finally {
    tidyUp(() => sweepPrepared(root));
    tidyUp(packages.remove);
  }
}

/** Tells whether an operation is the one that waits: it is carried on with, or was given again. */
function isWaitingOne(context: PlanningContext, operation: Operation): boolean {
  const pending = readPending(context.root);
  if (pending === null) return false;
  return context.decisions !== undefined || isSameCall(pending, callOf(operation));
}

function notesOfReplaced(context: PlanningContext, operation: Operation): readonly string[] {
  if (isWaitingOne(context, operation)) return [];
  return replacedNotes(context.root, callOf(operation));
}

/** Returns a verb and its arguments as an operation that waits keeps them. */
function callOf({ verb, arguments: args, retry }: Operation) {
  return { verb, arguments: retry ?? args };
}

/**
 * Lays out a planned command to wait for decisions.
 *
 * @returns every conflict that can be decided: open ones, then decided ones
 */
export function keepWaiting(context: PlanningContext, operation: Operation): readonly Conflict[] {
  const { plan } = operation;
  const waiting = withDecided(plan.conflicts, plan.resolvedConflicts);
  writePending(context.root, pendingOf(context, operation), waiting, (conflict) =>
    intentNotes(conflict, plan.layers),
  );
  return waiting;
}

async function askForYes<V extends TreeVerb>(
  context: EngineContext,
  operation: Operation<V>,
  planned: Report<V>,
): Promise<void> {
  if (context.confirm === null) return;
  const isYes = await context.confirm({
    verb: operation.verb,
    planned: asPlan(planned, { consent: [], installScripts: [] }),
    packages: packagesBrought(operation),
    settings: settingsBrought(operation),
    losses: operation.losses ?? [],
  });
  if (!isYes) throw new ClawError('CONSENT_NEEDED', 'You said no; nothing was changed.');
}

type Packages = Awaited<ReturnType<typeof preparePackages>>;

/** Returns the release that this operation brings, or the first one takes; null for the one that is there. */
function releaseBrought({ core = null, installation }: Operation): Release | null {
  const isOther = core !== null && core.state.digest !== installation.state?.core.digest;
  return isOther ? core.release : installation.taken;
}

/**
 * Proves the planned tree, and meanwhile writes the release that comes with it beside its place.
 *
 * @returns the proof, and the step that puts the release there; null where none comes
 */
async function proveAndPrepare(
  context: PlanningContext,
  operation: Operation,
  packages: Packages,
  early: EarlyBase | null,
): Promise<readonly [Awaited<ReturnType<typeof proveTree>>, Step | null]> {
  const { root, signal, isTrial = false } = context;
  const ending = new AbortController();
  const proving = proveTree(context, operation, packages);
  const brought = isTrial ? null : releaseBrought(operation);
  const signals = [ending.signal, ...(signal ? [signal] : [])];
  const preparing =
    brought &&
    (early?.stepOf(brought) ?? prepareBase(root, brought, { signal: AbortSignal.any(signals) }));
  proving.catch(() => ending.abort());
  // Neither is left working while what it has laid out is removed.
  await Promise.allSettled([proving, preparing]);
  return [await proving, await preparing];
}

function commit(
  context: EngineContext,
  operation: Operation,
  packages: Packages,
  base: Step | null,
): boolean {
  const { root, now, onProgress } = context;
  const { plan, installation, verb } = operation;
  const { state } = installation;
  const core = operation.core ?? null;
  const brought = releaseBrought(operation);
  const kept = stateSteps(root, {
    core: core?.state ?? state?.core ?? coreState(requireTaken(installation), isAssumed(operation)),
    layers: plan.layers.map((layer) => ({ package: layer, state: operation.pin(layer) })),
    target: plan.target,
    resolutions: keepResolutions(
      plan.resolvedConflicts,
      operation.resolutions ?? installation.resolutions,
      customisationsOf(operation),
    ),
    releaseFile: releaseReader(operation),
    lock: packages.keptLock,
    isLockOwners: packages.isLockOwners,
    isInstallSkipped: packages.isSkipped,
  });
  const project = plan.changes.map(({ path, before, after }) => stepOf(path, before, after));
  const extras = extraChanges(operation).map((change) =>
    stepOf(change.path, change.before, change.after),
  );
  const steps: Step[] = [...project, ...extras, ...packages.steps, ...kept.steps];
  if (steps.length === 0 && base === null) return false;
  if (base !== null) steps.unshift(base);
  const count = reportOperation(operation, 'done').changes.length + packages.changes.length;
  const files = count === 1 ? '1 file' : `${count} files`;
  // The project stays unchanged: only files below .claw are new.
  const isRecord = count === 0;
  onProgress({ kind: 'step', text: isRecord ? 'Writing .claw' : `Publishing ${files}` });
  commitSteps(
    root,
    {
      verb,
      summary: [verb, ...operation.arguments].join(' '),
      steps,
      moves: Object.fromEntries(
        plan.changes.flatMap(({ path, movedFrom }) => (movedFrom ? [[path, movedFrom]] : [])),
      ),
      stateBefore: state?.digest ?? null,
      stateAfter: digestBytes(kept.bytes),
    },
    { now },
  );
  // Writes caches, which are rebuilt where they could not be written.
  tidyUp(() => rememberState(root, kept.state, digestBytes(kept.bytes)));
  if (brought) tidyUp(() => saveBaseDigests(root, brought.digests));
  onProgress({ kind: 'done', text: isRecord ? 'Written' : `Published ${files}` });
  return true;
}

/** Tells whether the owner has said nothing of what the release is. HEAD without a tag may hold commits of theirs. */
function isAssumed({ verb, options = {}, installation }: Operation): boolean {
  if ((options['release'] ?? null) !== null) return false;
  return verb !== 'init' || installation.taken?.from === 'commit';
}

function customisationsOf({ plan, installed }: Operation): ReadonlySet<string> {
  const own = [...plan.layers, ...installed].filter(({ kind }) => kind === 'customisation');
  return new Set(own.map(({ manifest }) => manifest.skill));
}

function extraChanges({ files = [] }: Operation): readonly FileChange[] {
  return files.map((change) => ({ ...change, movedFrom: null }));
}

function resolvedNotes(resolvedConflicts: readonly ResolvedConflict[]): readonly string[] {
  return resolvedConflicts.flatMap(({ conflict, keys, decision }) =>
    decision === null ? [`${conflict.path}: resolved by the recording ${keys.join(', ')}.`] : [],
  );
}

function pendingOf(context: PlanningContext, operation: Operation) {
  const { installation } = operation;
  return {
    ...callOf(operation),
    options: { ...operation.options, ...(context.skipsInstall ? { install: 'no' } : {}) },
    cwd: context.cwd,
    allow: context.allow,
    state: installation.state?.digest ?? null,
    decisions: context.decisions ?? [],
  };
}

function requireTaken({ taken }: Installation) {
  if (taken) return taken;
  throw new TypeError('an installation without state has a release that was just taken');
}

/** Lists `name@range` of every npm package that the new layers want and the old ones did not. */
function packagesBrought({ plan, installed }: Operation): readonly string[] {
  return broughtBy(plan.layers, installed, ({ manifest }) =>
    Object.entries(manifest.structured.npmDependencies).map(([name, range]) => `${name}@${range}`),
  );
}

function settingsBrought({ plan, installed }: Operation): readonly string[] {
  return broughtBy(plan.layers, installed, ({ manifest }) =>
    manifest.structured.envAdditions.map(({ name }) => name),
  );
}

/** Lists the settings that the old layers declared and the new ones do not. */
function settingsGone({ plan, installed }: Operation): readonly string[] {
  return broughtBy(installed, plan.layers, ({ manifest }) =>
    manifest.structured.envAdditions.map(({ name }) => name),
  );
}

/** Returns those that the skill needs and that have no value to fall back on: a secret's example is none. */
function requiredSettings({ plan, installed }: Operation): readonly string[] {
  return broughtBy(plan.layers, installed, ({ manifest }) =>
    manifest.structured.envAdditions
      .filter(({ example, isSecret, isOptional }) => !isOptional && (example === null || isSecret))
      .map(({ name }) => name),
  );
}

function broughtBy(
  layers: readonly SkillPackage[],
  installed: readonly SkillPackage[],
  list: (layer: SkillPackage) => readonly string[],
): readonly string[] {
  const before = new Set(installed.flatMap(list));
  return [...new Set(layers.flatMap(list))].filter((item) => !before.has(item)).sort();
}

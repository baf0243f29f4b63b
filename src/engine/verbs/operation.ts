import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import type { SkillPackage } from '../skill/package.ts';
import { saveBaseDigests } from '../state/base-digests.ts';
import type { LayerState } from '../state/state-file.ts';
import { commitSteps } from '../transaction/commit.ts';
import type { Step } from '../transaction/step.ts';
import { checkConsent } from './consent.ts';
import type { EngineContext, VerbResult } from './context.ts';
import { resultOf } from './context.ts';
import { coreState, prepareBase, sweepPrepared } from './core.ts';
import type { Installation } from './installation.ts';
import { preparePackages } from './npm.ts';
import { clearPending, writePending } from './pending.ts';
import { proveTree } from './proving.ts';
import { reportChanges } from './report.ts';
import { stateSteps, stepOf } from './state-steps.ts';
import type { TargetPlan } from './target.ts';
import { tidyUp } from './tidy-up.ts';

/** A planned command: from here on every verb goes the same way. */
export type Operation = {
  readonly verb: string;
  readonly arguments: readonly string[];
  readonly installation: Installation;
  readonly installed: readonly SkillPackage[];
  readonly plan: TargetPlan;
  /** How `state.yaml` will pin a layer. */
  readonly pin: (layer: SkillPackage) => LayerState;
  /** Commit even where no file changes (the state does). */
  readonly warnings: readonly string[];
};

/** What a plan would do, in the form that every verb reports. */
export function reportOperation(operation: Operation, outcome: VerbResult['outcome']): VerbResult {
  const { verb, plan, warnings } = operation;
  const subject = [verb, ...operation.arguments].join(' ');
  return resultOf(verb, outcome, {
    changes: reportChanges(plan.changes, plan.target, subject),
    conflicts: plan.conflicts,
    warnings: [...(operation.installation.taken?.warnings ?? []), ...warnings],
    data: {
      skills: plan.layers.map(({ manifest }) => ({
        name: manifest.skill,
        version: manifest.version,
      })),
      packages: packagesBrought(operation),
      settings: settingsBrought(operation),
      requiredSettings: requiredSettings(operation),
    },
  });
}

/**
 * Proves a planned command and commits it. The caller holds the lock and has recovered.
 *
 * @throws ClawError CONSENT_NEEDED, NPM_FAILED, CHECKS_FAILED, TESTS_FAILED, TREE_CHANGED (plan again)
 */
export async function carryOut(context: EngineContext, operation: Operation): Promise<VerbResult> {
  const { root } = context;
  const { plan, installation, verb } = operation;
  const planned = reportOperation(operation, 'done');
  if (plan.conflicts.length > 0) {
    const state = installation.state?.digest ?? null;
    writePending(root, { verb, arguments: operation.arguments, state }, plan.conflicts);
    return { ...planned, outcome: 'blocked' };
  }
  checkConsent(plan.changes, context.allow);
  await askForYes(context, operation, planned);
  const packages = await preparePackages(context, operation);
  try {
    const warnings = await proveTree(context, operation, packages);
    throwIfInterrupted(context.signal);
    const isChanged = commit(context, operation, packages);
    tidyUp(() => clearPending(root));
    const outcome = isChanged ? 'done' : 'nothing';
    const changes = [...planned.changes, ...packages.changes].sort((one, other) =>
      one.path < other.path ? -1 : 1,
    );
    return { ...planned, outcome, changes, warnings: [...planned.warnings, ...warnings] };
  } finally {
    tidyUp(() => sweepPrepared(root));
    tidyUp(packages.remove);
  }
}

async function askForYes(
  context: EngineContext,
  operation: Operation,
  planned: VerbResult,
): Promise<void> {
  if (context.confirm === null) return;
  const isYes = await context.confirm({
    verb: operation.verb,
    changes: planned.changes,
    packages: packagesBrought(operation),
    settings: settingsBrought(operation),
  });
  if (!isYes) throw new ClawError('CONSENT_NEEDED', 'You said no; nothing was changed.');
}

type Packages = Awaited<ReturnType<typeof preparePackages>>;

function commit(context: EngineContext, operation: Operation, packages: Packages): boolean {
  const { root, now, onProgress } = context;
  const { plan, installation, verb } = operation;
  const { state, taken } = installation;
  const kept = stateSteps(root, {
    core: state?.core ?? coreState(requireTaken(installation), verb !== 'init'),
    layers: plan.layers.map((layer) => ({ package: layer, state: operation.pin(layer) })),
    target: plan.target,
    releaseFile: installation.releaseFile,
    lock: packages.keptLock,
    isLockOwners: packages.isLockOwners,
  });
  const project = plan.changes.map(({ path, before, after }) => stepOf(path, before, after));
  const steps: Step[] = [...project, ...packages.steps, ...kept.steps];
  if (steps.length === 0 && !taken) return false;
  if (taken) steps.unshift(prepareBase(root, taken));
  onProgress({ kind: 'step', text: `Publishing ${project.length} files` });
  commitSteps(
    root,
    {
      verb,
      summary: [verb, ...operation.arguments].join(' '),
      steps,
      stateBefore: state?.digest ?? null,
      stateAfter: digestBytes(kept.bytes),
    },
    { now },
  );
  if (taken) saveBaseDigests(root, taken.digests);
  onProgress({ kind: 'done', text: `Published ${project.length} files` });
  return true;
}

function requireTaken({ taken }: Installation) {
  if (taken) return taken;
  throw new TypeError('an installation without state has a release that was just taken');
}

/** `name@range` of every npm package that the new layers want and the old ones did not. */
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

/** Those that have no value to fall back on: a secret's example is none. */
function requiredSettings({ plan, installed }: Operation): readonly string[] {
  return broughtBy(plan.layers, installed, ({ manifest }) =>
    manifest.structured.envAdditions
      .filter(({ example, isSecret }) => example === null || isSecret)
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

import { OWNER } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import {
  readInstallation,
  readInstalledPackages,
  requireState,
} from '../installed/installation.ts';
import type { PlanningContext } from '../operation/context.ts';
import { pinning, requireApplied } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { planLayers, type TargetPlan } from '../operation/planned-tree/planned-tree.ts';
import { checkRelations } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';

/**
 * Plans the same layers without some.
 *
 * @throws ClawError SKILL_NOT_APPLIED; SKILL_NEEDED when another layer depends on one of them
 */
export async function planRemove(
  context: PlanningContext,
  names: readonly string[],
): Promise<Operation<'remove'>> {
  const installation = await readInstallation(context.root);
  const state = requireState(installation);
  for (const name of names) requireApplied(state, name);
  const installed = readInstalledPackages(installation);
  const rest = installed.filter(({ manifest }) => !names.includes(manifest.skill));
  refuseNeeded(names, rest);
  checkRelations(rest);
  const { decisions } = context;
  const coreName = coreWithout(names);
  const plan = planLayers({ installation, installed, wanted: rest, decisions, coreName });
  return {
    verb: 'remove',
    arguments: names,
    installation,
    installed,
    plan: explained(plan, names),
    pin: pinning(state, new Map(), context.now()),
    warnings: [],
    data: {},
  };
}

function coreWithout(names: readonly string[]): string {
  return `core without ${names.join(' and ')}`;
}

/**
 * Explains conflicts of a removal: the core's text comes back, but the core is not the party that disagrees.
 */
function explained(plan: TargetPlan, names: readonly string[]): TargetPlan {
  const conflicts = plan.conflicts.map((conflict) => {
    const { kind, layers, sides } = conflict;
    const isBack = layers[0] === OWNER && layers[1] === coreWithout(names) && sides.theirs !== null;
    if (!isBack || (kind !== 'content' && sides.ours !== null)) return conflict;
    const without = `Without ${names.join(' and ')} `;
    const reason =
      sides.ours === null
        ? `${without}this file changes back, but you have deleted it.`
        : `${without}these lines change back, but you have changed them.`;
    return { ...conflict, reason };
  });
  return { ...plan, conflicts };
}

/** @throws ClawError SKILL_NEEDED, saying what to remove as well */
function refuseNeeded(names: readonly string[], rest: readonly SkillPackage[]): void {
  for (const { manifest } of rest) {
    const needed = manifest.depends.find(({ name }) => names.includes(name));
    if (needed === undefined) continue;
    throw new ClawError(
      'SKILL_NEEDED',
      `${manifest.skill} needs ${needed.name}: remove ${manifest.skill} as well.`,
      { data: { skill: manifest.skill, needed: needed.name, range: needed.range, found: null } },
    );
  }
}

import { checkRelations } from '../skill/order.ts';
import type { PlanningContext } from './context.ts';
import { readInstallation, readInstalledPackages, requireState } from './installation.ts';
import { pinning, requireApplied } from './layers.ts';
import type { Operation } from './operation.ts';
import { planLayers } from './target.ts';

/**
 * Plans the same layers without some.
 *
 * @throws ClawError SKILL_NOT_APPLIED; SKILL_NEEDED when another layer depends on one of them
 */
export async function planRemove(
  context: PlanningContext,
  names: readonly string[],
): Promise<Operation> {
  const installation = await readInstallation(context.root);
  const state = requireState(installation);
  for (const name of names) requireApplied(state, name);
  const installed = readInstalledPackages(installation);
  const rest = installed.filter(({ manifest }) => !names.includes(manifest.skill));
  checkRelations(rest);
  return {
    verb: 'remove',
    arguments: names,
    installation,
    installed,
    plan: planLayers({ installation, installed, wanted: rest, decisions: context.decisions }),
    pin: pinning(state, new Map(), context.now()),
    warnings: [],
  };
}

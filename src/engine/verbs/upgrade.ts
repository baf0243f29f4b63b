import { ClawError } from '../errors.ts';
import { checkCoreVersion } from '../skill/core-version.ts';
import { checkRelations } from '../skill/order.ts';
import type { SkillPackage } from '../skill/package.ts';
import type { State } from '../state/state-file.ts';
import { type Requested, requestPackages } from './apply.ts';
import type { EngineContext, PlanningContext } from './context.ts';
import { readInstallation, readInstalledPackages, requireState } from './installation.ts';
import { pinning, requireApplied } from './layers.ts';
import type { Operation } from './operation.ts';
import { planLayers } from './target.ts';

/**
 * Plans the same layers with some replaced by what their sources hold now. What was published is
 * the base, so a skill never conflicts with its own past, and files it no longer has go.
 *
 * @param names skills, or packages by folder; none upgrades everything whose source is there
 * @throws ClawError SKILL_NOT_APPLIED; DIGEST_MISMATCH for other bytes under the same version
 */
export async function planUpgrade(
  context: PlanningContext,
  names: readonly string[],
): Promise<Operation> {
  const installation = await readInstallation(context.root);
  const state = requireState(installation);
  const found = await findReplacements(context, state, names);
  for (const one of found.replacements) checkReplacement(state, one.package);
  const fresh = found.replacements.filter(({ package: { digest } }) =>
    state.layers.every((layer) => layer.digest !== digest),
  );
  for (const one of fresh) checkCoreVersion(one.package.manifest, installation.coreVersion);
  const installed = readInstalledPackages(installation);
  const replaced = new Map(fresh.map((one) => [one.package.manifest.skill, one.package]));
  const wanted = installed.map((layer) => replaced.get(layer.manifest.skill) ?? layer);
  checkRelations(wanted);
  const sources = new Map(fresh.map((one) => [one.package.manifest.skill, one.source]));
  return {
    verb: 'upgrade',
    arguments: fresh.map((one) => one.package.manifest.skill),
    installation,
    installed,
    plan: planLayers({ installation, installed, wanted, decisions: context.decisions }),
    pin: pinning(state, sources, context.now()),
    warnings: found.warnings,
  };
}

type Found = {
  readonly replacements: readonly Requested[];
  readonly warnings: readonly string[];
};

async function findReplacements(
  context: EngineContext,
  state: State,
  names: readonly string[],
): Promise<Found> {
  if (names.length > 0) {
    const sources = names.map(
      (name) => state.layers.find((layer) => layer.name === name)?.source ?? name,
    );
    return { replacements: await requestPackages(context, sources, 'replace'), warnings: [] };
  }
  const replacements: Requested[] = [];
  const warnings: string[] = [];
  for (const { name, source } of state.layers) {
    try {
      const cwd = context.root;
      replacements.push(...(await requestPackages({ ...context, cwd }, [source], 'replace')));
    } catch (error) {
      if (!(error instanceof ClawError && error.code === 'SKILL_NOT_FOUND')) throw error;
      warnings.push(`${name} stays as it is: its source (${source}) is not there.`);
    }
  }
  return { replacements, warnings };
}

function checkReplacement(state: State, { manifest, digest }: SkillPackage): void {
  const known = requireApplied(state, manifest.skill);
  if (known.version !== manifest.version || known.digest === digest) return;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${known.name} ${known.version} is applied with other bytes than this package has. ` +
      'A changed package needs a new version.',
    { data: { applied: known.digest, offered: digest } },
  );
}

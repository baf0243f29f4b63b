import { ClawError } from '../errors.ts';
import {
  readInstallation,
  readInstalledPackages,
  requireState,
} from '../installed/installation.ts';
import { readState, type State } from '../installed/state-file.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import { inferBases } from '../operation/inference.ts';
import { pinning, requireApplied } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { planLayers } from '../operation/planned-tree/planned-tree.ts';
import { checkCoreVersion } from '../package/manifest/core-version.ts';
import { checkRelations } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';
import { hasPending } from '../transaction/recover.js';
import { type Requested, requestPackages } from './apply.ts';
import { checkMapped } from './update/migrate.ts';

/** The replacements for applied skills, and warnings about those without one. */
export type Replacements = {
  readonly found: readonly Requested[];
  readonly warnings: readonly string[];
};

/**
 * Fetches, reads and checks what an `upgrade` asks for: before any lock, before a byte is written.
 *
 * @param names applied skills, or packages by their sources; none asks for everything whose source is
 * there
 * @returns null where an unfinished command has to be finished first
 * @throws ClawError SKILL_NOT_FOUND, SOURCE_FAILED, and every refusal of a package
 */
export async function requestUpgrade(
  context: EngineContext,
  names: readonly string[],
): Promise<Replacements | null> {
  if (hasPending(context.root)) return null;
  return await findReplacements(context, readState(context.root)?.layers ?? [], names);
}

/**
 * Plans the same layers with some replaced by what their sources hold now. What was published is
 * the base, so a skill never conflicts with its own past, and files it no longer has go.
 *
 * @param requested what `requestUpgrade` found for these names; null asks again
 * @throws ClawError SKILL_NOT_APPLIED; DIGEST_MISMATCH for other bytes under the same version
 */
export async function planUpgrade(
  context: PlanningContext,
  names: readonly string[],
  requested: Replacements | null = null,
): Promise<Operation<'upgrade'>> {
  const installation = await readInstallation(context.root);
  const state = requireState(installation);
  const { found, warnings } = requested ?? (await findReplacements(context, state.layers, names));
  for (const one of found) checkReplacement(state, one.package);
  const fresh = found.filter(({ package: { digest } }) =>
    state.layers.every((layer) => layer.digest !== digest),
  );
  for (const one of fresh) checkCoreVersion(one.package.manifest, installation.coreVersion);
  const packages = fresh.map((one) => one.package);
  checkMapped(packages, installation.pathMaps, installation.config);
  const installed = readInstalledPackages(installation);
  const isReplaced = new Set(fresh.map((one) => one.package.manifest.skill));
  const rest = installed.filter(({ manifest }) => !isReplaced.has(manifest.skill));
  const inference = await inferBases(installation, packages, rest);
  const wanted = [...rest, ...inference.packages];
  checkRelations(wanted);
  const sources = new Map(fresh.map((one) => [one.package.manifest.skill, one]));
  return {
    verb: 'upgrade',
    arguments: fresh.map((one) => one.package.manifest.skill),
    retry: names.length === 0 ? [] : found.map((one) => one.wanted),
    installation,
    installed,
    plan: planLayers({ installation, installed, wanted, decisions: context.decisions }),
    pin: pinning(state, sources, context.now()),
    warnings: [...warnings, ...inference.warnings],
    data: { inferredBases: inference.found },
  };
}

async function findReplacements(
  context: EngineContext,
  layers: State['layers'],
  names: readonly string[],
): Promise<Replacements> {
  // A recorded source is relative to the project, what the owner types to where they are.
  const fromRoot = { ...context, cwd: context.root };
  const found: Requested[] = [];
  for (const name of names) {
    const layer = layers.find((one) => one.name === name);
    const requested = layer
      ? await requestPackages(fromRoot, [layer.source], { mode: 'replace' })
      : await requestPackages(context, [name], { mode: 'replace' });
    found.push(...requested.map((one) => (layer ? { ...one, wanted: name } : one)));
  }
  const twice = found.find(({ package: { manifest } }, index) =>
    found.slice(0, index).some((one) => one.package.manifest.skill === manifest.skill),
  );
  if (twice) throw new ClawError('USAGE', `${twice.package.manifest.skill} is named twice.`);
  if (names.length > 0) return { found, warnings: [] };
  const warnings: string[] = [];
  for (const { name, source } of layers.filter(({ kind }) => kind === 'skill')) {
    try {
      found.push(...(await requestPackages(fromRoot, [source], { mode: 'replace' })));
    } catch (error) {
      if (!(error instanceof ClawError)) throw error;
      if (error.code !== 'SKILL_NOT_FOUND' && error.code !== 'SOURCE_FAILED') throw error;
      warnings.push(`${name} stays as it is: its source (${source}) is not there.`);
    }
  }
  return { found, warnings };
}

function checkReplacement(state: State, { manifest, digest }: SkillPackage): void {
  const known = requireApplied(state, manifest.skill);
  if (known.version !== manifest.version || known.digest === digest) return;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${known.name} ${known.version} is applied, and this package has other contents under the same version. ` +
      `A changed package needs a new version: claw pack ${known.name} --update gives it one.`,
    { data: { applied: known.digest, offered: digest } },
  );
}

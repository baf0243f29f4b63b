import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import type { LayerTests } from '../proof/view.ts';
import type { SkillPackage } from '../skill/package.ts';
import { CONFIG_PATH, type CodebaseConfig, parseConfig } from '../state/config.ts';
import { listProjectFiles } from '../state/listing.ts';
import type { EngineContext } from './context.ts';
import type { PreparedPackages } from './npm.ts';
import type { Operation } from './operation.ts';

/**
 * Runs the checks and the tests of all layers on the planned tree, beside the project.
 *
 * @returns warnings: what the present tree fails as well, and what could not be fenced in
 * @throws ClawError CHECKS_FAILED, TESTS_FAILED with the output's end in `data.output`
 */
export async function proveTree(
  context: EngineContext,
  operation: Operation,
  packages: PreparedPackages,
): Promise<readonly string[]> {
  const { root } = operation.installation;
  const config = plannedConfig(operation);
  const { plan, installed, installation } = operation;
  const isTested = plan.layers.some(({ manifest }) => manifest.test.length > 0);
  if (config.check.length === 0 && !isTested) return packages.warnings;
  // Another release may move nothing but the versions of packages, which is a change of the tree too.
  const isMoved = operation.core != null && packages.nodeModules !== null;
  if (plan.changes.length === 0 && !isMoved) return packages.warnings;
  const { prove } = await import('../proof/prove.ts');
  const proof = await prove({
    root,
    paths: await listProjectFiles(root, config),
    changed: new Map(plan.changes.map(({ path, after }) => [path, after])),
    tests: plan.layers.map(testsOf),
    presentTests: installed.map(testsOf),
    checks: config.check,
    testCommand: config.test,
    present: { checks: installation.config.check, testCommand: installation.config.test },
    nodeModules: packages.nodeModules === null ? null : join(root, packages.nodeModules),
    environment: context.environment,
    signal: context.signal,
    onProgress: (text) => context.onProgress({ kind: 'step', text }),
  });
  const [failure] = proof.failures;
  if (failure === undefined) return [...packages.warnings, ...proof.warnings];
  const what =
    failure.kind === 'check'
      ? `The check "${failure.name}"`
      : `The tests of ${failure.name}, run by "${config.test}",`;
  throw new ClawError(
    failure.kind === 'check' ? 'CHECKS_FAILED' : 'TESTS_FAILED',
    `${what} failed on the new tree, so nothing was changed.\n${failure.output.trimEnd()}`,
    { data: { failures: proof.failures } },
  );
}

/** What proves the planned tree is what that tree says: an update may bring other checks. */
function plannedConfig({ plan, installation }: Operation): CodebaseConfig {
  const change = plan.changes.find(({ path }) => path === CONFIG_PATH);
  return change ? parseConfig(change.after?.bytes.toString('utf8') ?? null) : installation.config;
}

/** What a layer brings to a proof. */
export function testsOf({ manifest, files }: SkillPackage): LayerTests {
  return { skill: manifest.skill, files, test: manifest.test };
}

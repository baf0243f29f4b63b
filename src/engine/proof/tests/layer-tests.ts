import type { Digest } from '../../digest.ts';
import type { Found, ProofFailure, ProofInput } from '../proof.ts';
import { testPath } from '../proof-files.ts';
import { failsAsBefore, failureOf } from '../report.ts';
import { COMMAND_MS } from '../sandboxed.ts';
import { failedBefore, type Trial, type TrialRun, type Trials } from '../trial.ts';
import type { LayerTests } from '../view.ts';
import { failingTests } from './failing-tests.ts';
import { openTestKeys } from './test-keys.ts';

/** The command for test files where the configuration names none. */
export const DEFAULT_TEST_COMMAND = 'node --test';
const ALL_LAYERS = 'all layers together';

/** Runs the tests of all layers in one go, but for those that have passed on the very same files. */
export async function proveLayers(
  input: ProofInput,
  { planned, present, files }: Trials,
): Promise<Found & { readonly reused: number }> {
  const { memory = null, onProgress } = input;
  const all = input.tests.filter(({ test }) => test.length > 0);
  if (all.length === 0) return { failures: [], warnings: [], reused: 0 };
  const command = input.testCommand ?? DEFAULT_TEST_COMMAND;
  const keyOf = memory === null ? null : await openTestKeys(input, planned, { files, command });
  const keyed = all.map((layer) => keyedTests(layer, keyOf));
  const isAll = input.scope === 'all';
  const isKnown = (key: Digest | null) => !isAll && key !== null && memory?.hasPassed(key) === true;
  const layers = keyed.flatMap(({ layer, tests }) => {
    const test = tests.filter(({ key }) => !isKnown(key)).map(({ file }) => file);
    return test.length > 0 ? [{ ...layer, test }] : [];
  });
  const reused = count(all) - count(layers);
  if (reused > 0) onProgress?.(`passed before on the same files: ${reused} of ${count(all)} files`);
  if (layers.length === 0) return { failures: [], warnings: [], reused };
  const eachMs = input.timeoutMs ?? COMMAND_MS;
  const together = await runTests(planned, { command, eachMs }, layers);
  if (together.isOk) {
    const passed = keyed.flatMap(({ tests }) => tests.flatMap(({ key }) => key ?? []));
    memory?.addPassed(passed);
    return { failures: [], warnings: [], reused };
  }
  const presentCommand = (input.present ?? input).testCommand ?? DEFAULT_TEST_COMMAND;
  const failures: ProofFailure[] = [];
  const warnings: string[] = [];
  for (const { name, run } of await failingLayers(
    planned,
    { command, eachMs },
    { layers, together },
  )) {
    const before = input.presentTests.filter(
      ({ skill, test }) => test.length > 0 && (name === ALL_LAYERS || skill === name),
    );
    const isOld =
      before.length > 0 &&
      failedBefore(run, await runTests(present, { command: presentCommand, eachMs }, before));
    if (isOld) warnings.push(failsAsBefore(input, name, run));
    else failures.push(failureOf(input, { kind: 'test', name }, run));
  }
  return { failures, warnings, reused };
}

type KeyOf = (path: string, beside: readonly string[]) => Digest | null;

/**
 * Returns a layer's test files, each with the key under which it is remembered; null for one that always
 * runs.
 */
function keyedTests(layer: LayerTests, keyOf: KeyOf | null) {
  const { skill, files, test } = layer;
  // Snapshots and fixtures are not named by the tests that read them.
  const beside = [...files.keys()].filter((path) => path.startsWith('tests/'));
  const places = beside.map((path) => testPath(skill, path));
  const tests = test.map((file) => ({ file, key: keyOf?.(testPath(skill, file), places) ?? null }));
  return { layer, tests };
}

type FailingLayer = { readonly name: string; readonly run: TrialRun };

/** Runs the layers that seem to fail each alone, to name the one that does. */
async function failingLayers(
  planned: Trial,
  how: TestRun,
  { layers, together }: { readonly layers: readonly LayerTests[]; readonly together: TrialRun },
): Promise<readonly FailingLayer[]> {
  const [first] = layers;
  if (first !== undefined && layers.length === 1) return [{ name: first.skill, run: together }];
  const named = failingTests(together.output).map(({ name }) => name);
  const isNamed = ({ skill }: LayerTests) =>
    named.some((name) => name.startsWith(`skills/${skill}/`));
  const suspects = layers.filter(isNamed);
  const failing: FailingLayer[] = [];
  for (const layer of suspects.length > 0 ? suspects : layers) {
    const run = await runTests(planned, how, [layer]);
    if (!run.isOk) failing.push({ name: layer.skill, run });
  }
  return failing.length > 0 ? failing : [{ name: ALL_LAYERS, run: together }];
}

/** The test command, and the time that it has for each layer: what is quick alone takes longer with many. */
type TestRun = { readonly command: string; readonly eachMs: number };

function runTests(
  trial: Trial,
  { command: line, eachMs }: TestRun,
  layers: readonly LayerTests[],
): Promise<TrialRun> {
  const files = layers.flatMap(({ skill, test }) => test.map((file) => testPath(skill, file)));
  const told = `test: ${layers.map(({ skill }) => skill).join(', ')}`;
  return trial.run({ told, line, files, timeoutMs: eachMs * layers.length });
}

function count(layers: readonly LayerTests[]): number {
  return layers.reduce((sum, { test }) => sum + test.length, 0);
}

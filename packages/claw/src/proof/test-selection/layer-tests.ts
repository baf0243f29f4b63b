import type { Digest } from '../../digest.ts';
import type { ProofFindings, ProofInput } from '../proof.ts';
import { testPath } from '../proof-files.ts';
import { failsAsBefore, failureOf } from '../report.ts';
import { failedBefore, type Trial, type TrialRun, type Trials } from '../trial.ts';
import type { LayerTests } from '../view.ts';
import { failingTests } from './failing-tests.ts';
import { openTestKeys } from './test-keys.ts';

/** The command for test files if the configuration names none. */
export const DEFAULT_TEST_COMMAND = 'node --test';
const ALL_LAYERS = 'all layers together';

/**
 * Layers whose tests run in one go. A runner that loads the code once keeps what each test leaves in memory: more in one
 * run pass its limit, and then all that has run was for nothing.
 */
const MOST_AT_ONCE = 8;

/** Runs the tests of all layers, several at a time, except those that have passed on exactly the same files. */
export async function proveLayers(
  input: ProofInput,
  { planned, present, files }: Trials,
): Promise<ProofFindings & { readonly reused: number }> {
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
  if (reused > 0)
    onProgress?.({
      kind: 'note',
      text: `passed before on the same files: ${reused} of ${count(all)} files`,
    });
  if (layers.length === 0) return { failures: [], warnings: [], reused };
  const passed = new Set<string>();
  const warnings: string[] = [];
  for (let at = 0; at < layers.length; at += MOST_AT_ONCE) {
    const some = layers.slice(at, at + MOST_AT_ONCE);
    const found = await proveTogether(input, { planned, present }, { command, layers: some });
    warnings.push(...found.warnings);
    if (found.failures.length > 0) return { failures: found.failures, warnings, reused };
    if (found.havePassed) for (const { skill } of some) passed.add(skill);
  }
  memory?.addPassed(
    keyed
      .filter(({ layer }) => passed.has(layer.skill))
      .flatMap(({ tests }) => tests.flatMap(({ key }) => key ?? [])),
  );
  return { failures: [], warnings, reused };
}

/** Runs the tests of some layers in one go; where that fails, those of each that may be the reason. */
async function proveTogether(
  input: ProofInput,
  { planned, present }: Pick<Trials, 'planned' | 'present'>,
  { command, layers }: { readonly command: string; readonly layers: readonly LayerTests[] },
): Promise<ProofFindings & { readonly havePassed: boolean }> {
  const together = await runTests(planned, command, layers);
  if (together.isOk) return { failures: [], warnings: [], havePassed: true };
  const presentCommand = (input.present ?? input).testCommand ?? DEFAULT_TEST_COMMAND;
  const isOld = async (name: string, run: TrialRun): Promise<boolean> => {
    const before = input.presentTests.filter(
      ({ skill, test }) => test.length > 0 && (name === ALL_LAYERS || skill === name),
    );
    return before.length > 0 && failedBefore(run, await runTests(present, presentCommand, before));
  };
  const warnings: string[] = [];
  const suspects = suspectsOf(layers, together);
  for (const [at, layer] of suspects.entries()) {
    const name = layer.skill;
    const run = layers.length === 1 ? together : await runTests(planned, command, [layer]);
    if (run.isOk) continue;
    if (await isOld(name, run)) {
      warnings.push(failsAsBefore(input, name, run));
      continue;
    }
    // The result is certain: what else the run of all named is told, and not tried again.
    const others = suspects.length < layers.length ? suspects.slice(at + 1) : [];
    const failure = failureOf(input, { kind: 'test', name }, run);
    return {
      failures: [{ ...failure, text: withOthers(failure.text, others) }],
      warnings,
      havePassed: false,
    };
  }
  if (warnings.length > 0) return { failures: [], warnings, havePassed: false };
  if (together.stop !== null) {
    // Alone each has passed: all at once they were only too much for this machine.
    const text = `The tests of ${layers.length} skills in one run were stopped: ${together.stop.text} The tests of each skill passed alone.`;
    return { failures: [], warnings: [text], havePassed: true };
  }
  if (await isOld(ALL_LAYERS, together)) {
    return {
      failures: [],
      warnings: [failsAsBefore(input, ALL_LAYERS, together)],
      havePassed: false,
    };
  }
  return {
    failures: [failureOf(input, { kind: 'test', name: ALL_LAYERS }, together)],
    warnings,
    havePassed: false,
  };
}

/** Returns the layers that a run of all of them names as failing; where it names none, all of them. */
function suspectsOf(layers: readonly LayerTests[], together: TrialRun): readonly LayerTests[] {
  const named = failingTests(together.output).map(({ name }) => name);
  const isNamed = ({ skill }: LayerTests) =>
    named.some((name) => name.startsWith(`skills/${skill}/`));
  const suspects = layers.filter(isNamed);
  return suspects.length > 0 ? suspects : layers;
}

function withOthers(text: string, others: readonly LayerTests[]): string {
  if (others.length === 0) return text;
  const names = others.map(({ skill }) => skill).join(', ');
  return `${text}\nAlso failed in the run of all skills, and not run again: ${names}.`;
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

function runTests(trial: Trial, line: string, layers: readonly LayerTests[]): Promise<TrialRun> {
  const files = layers.flatMap(({ skill, test }) => test.map((file) => testPath(skill, file)));
  const told = `test: ${layers.map(({ skill }) => skill).join(', ')}`;
  return trial.run({ told, line, files, parts: layers.length });
}

function count(layers: readonly LayerTests[]): number {
  return layers.reduce((sum, { test }) => sum + test.length, 0);
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { throwIfInterrupted } from '../interrupted.ts';
import type { Tree, TreeFile } from '../tree.ts';
import { parseCommand } from './command.ts';
import { type Environment, runSandboxed, type SandboxedRun } from './sandboxed.ts';
import { type LayerTests, layOutView, sweepViews, type View } from './view.ts';

const REPORTED_LINES = 40;

export type ProofInput = {
  readonly root: string;
  /** Every file of the present tree, relative to the root. */
  readonly paths: readonly string[];
  /** What the planned tree has otherwise; null for a file that goes. */
  readonly changed: ReadonlyMap<string, TreeFile | null>;
  /** Tests of all layers of the planned tree, and of the present one. */
  readonly tests: readonly LayerTests[];
  readonly presentTests: readonly LayerTests[];
  /** What stands for the present tree where that is not the one on disk, and its packages. */
  readonly compared?: { readonly files: Tree; readonly nodeModules: string | null };
  /** Commands that prove a tree, from the configuration. */
  readonly checks: readonly string[];
  /** What test files are handed to; null for `node --test`. */
  readonly testCommand: string | null;
  /** How the present tree is proved, where the planned one brings other settings. */
  readonly present?: Pick<ProofInput, 'checks' | 'testCommand'>;
  /** Packages prepared for the planned tree, absolute; null where the project's own will do. */
  readonly nodeModules: string | null;
  readonly environment: Environment;
  /** Ends the proof, with INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
  /** For each command; 120 s by default. */
  readonly timeoutMs?: number;
  readonly onProgress?: (line: string) => void;
};

export type ProofFailure = {
  readonly kind: 'check' | 'test';
  /** The check's command line, or the skill whose tests fail. */
  readonly name: string;
  /** Its last lines. */
  readonly output: string;
};

export type Proof = {
  readonly ok: boolean;
  readonly failures: readonly ProofFailure[];
  readonly warnings: readonly string[];
};

/**
 * Tries a planned tree where it can do no harm: its checks, then the tests of all its layers in one
 * run. What the present tree fails as well is a warning, so that a broken tree can be repaired; a check
 * that comes with the change is not excused by a tree that knows nothing of it.
 *
 * @throws ClawError INTERRUPTED
 */
export async function prove(input: ProofInput): Promise<Proof> {
  sweepViews(input.root);
  const isTested = input.tests.some((layer) => layer.test.length > 0);
  if (!isTested && input.checks.length === 0) return { ok: true, failures: [], warnings: [] };
  const planned = new Trial(input, 'planned');
  const present = new Trial(input, 'present');
  try {
    return await compareTrials(input, planned, present);
  } finally {
    planned.remove();
    present.remove();
  }
}

async function compareTrials(input: ProofInput, planned: Trial, present: Trial): Promise<Proof> {
  const isTested = input.tests.some((layer) => layer.test.length > 0);
  const failures: ProofFailure[] = [];
  const warnings: string[] = [];
  const sort = (failure: ProofFailure, isOld: boolean) => {
    if (isOld) warnings.push(`${failure.name} fails, as it does without this change.`);
    else failures.push(failure);
  };
  for (const line of input.checks) {
    const run = await planned.check(line);
    if (run.isOk) continue;
    const isKnown = (input.present ?? input).checks.includes(line);
    const isOld = isKnown && !(await present.check(line)).isOk;
    sort({ kind: 'check', name: line, output: lastLines(run.output) }, isOld);
  }
  for (const failure of isTested ? await failingLayers(planned, input.tests) : []) {
    const layers = input.presentTests.filter(
      (layer) => failure.name === ALL_LAYERS || layer.skill === failure.name,
    );
    sort(failure, layers.length > 0 && !(await present.test(layers)).isOk);
  }
  return { ok: failures.length === 0, failures, warnings: [...planned.warnings, ...warnings] };
}

const ALL_LAYERS = 'all layers together';

/** Runs everything at once, and only if that fails each layer alone, to name the one that does. */
async function failingLayers(
  planned: Trial,
  layers: readonly LayerTests[],
): Promise<readonly ProofFailure[]> {
  const together = await planned.test(layers);
  if (together.isOk) return [];
  const failures: ProofFailure[] = [];
  const tested = layers.filter(({ test }) => test.length > 0);
  for (const layer of tested) {
    const run = tested.length === 1 ? together : await planned.test([layer]);
    if (run.isOk) continue;
    failures.push({ kind: 'test', name: layer.skill, output: lastLines(run.output) });
  }
  if (failures.length > 0) return failures;
  return [{ kind: 'test', name: ALL_LAYERS, output: lastLines(together.output) }];
}

/** One of the two trees, laid out when it is first needed. */
class Trial {
  readonly #input: ProofInput;
  readonly #tree: 'planned' | 'present';
  readonly warnings = new Set<string>();
  #view: View | null = null;

  constructor(input: ProofInput, tree: 'planned' | 'present') {
    this.#input = input;
    this.#tree = tree;
  }

  check(line: string): Promise<SandboxedRun> {
    this.#tell(`check: ${line}`);
    return this.#run(line, []);
  }

  test(layers: readonly LayerTests[]): Promise<SandboxedRun> {
    const names = layers.filter(({ test }) => test.length > 0).map(({ skill }) => skill);
    this.#tell(`test: ${names.join(', ')}`);
    const files = layers.flatMap(({ skill, test }) =>
      test.map((file) => `skills/${skill}/${file}`),
    );
    const { present, testCommand } = this.#input;
    const command = this.#tree === 'present' && present ? present.testCommand : testCommand;
    return this.#run(command ?? 'node --test', files);
  }

  remove(): void {
    this.#view?.remove();
  }

  async #run(line: string, files: readonly string[]): Promise<SandboxedRun> {
    const { root, compared, environment, signal, timeoutMs } = this.#input;
    this.#view ??= this.#layOut();
    const isPlanned = this.#tree === 'planned';
    const prepared = isPlanned ? this.#input.nodeModules : (compared?.nodeModules ?? null);
    const own = join(root, 'node_modules');
    const run = await runSandboxed(this.#view.path, parseCommand(line, files), {
      root,
      environment,
      signal,
      nodeModules: prepared ?? (existsSync(own) ? own : null),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    throwIfInterrupted(signal);
    if (run.warning !== null) this.warnings.add(run.warning);
    return run;
  }

  #layOut(): View {
    const { root, paths, changed, tests, presentTests, compared } = this.#input;
    return this.#tree === 'planned'
      ? layOutView(root, { paths, changed, tests })
      : layOutView(root, { paths, changed: compared?.files ?? new Map(), tests: presentTests });
  }

  #tell(line: string): void {
    this.#input.onProgress?.(this.#tree === 'planned' ? line : `${line} (as it is now)`);
  }
}

function lastLines(output: string): string {
  return output.split('\n').slice(-REPORTED_LINES).join('\n');
}

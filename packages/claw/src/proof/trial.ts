import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProofLimits } from '../installed/config.ts';
import { readTreeFile } from '../installed/disk.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import type { Stop } from './limits.ts';
import type { ProofInput } from './proof.ts';
import type { ProofFiles } from './proof-files.ts';
import { runSandboxed } from './sandboxed.ts';
import { parseCommand } from './shell-command.ts';
import { addedErrors, failingTests, plainText } from './test-selection/failing-tests.ts';
import { layOutView, type View } from './view.ts';

/** The two trees of a proof, and what is in the planned one. */
export type Trials = {
  readonly planned: Trial;
  readonly present: Trial;
  readonly files: ProofFiles;
};

/** The end of a command in one of the two trees. */
export type TrialRun = {
  readonly isOk: boolean;
  /** The limit at which it was stopped; null where it ended by itself. */
  readonly stop: Stop | null;
  /** Plain text; paths are relative to the tree. */
  readonly output: string;
};

/** A command, the files it is handed, and what the owner is told of it. */
export type TrialCommand = {
  readonly told: string;
  readonly line: string;
  readonly files?: readonly string[];
  /** How many things it does in one go; 1 by default. */
  readonly parts?: number;
  /** Limits other than those of the proof. */
  readonly limits?: ProofLimits | undefined;
  /** A budget of time; none by default. */
  readonly timeoutMs?: number;
};

/** Ends a step of a proof whose result another step has made certain meanwhile. */
export class AlreadyCertain extends Error {}

/** One of the two trees, laid out when it is first needed. */
export class Trial {
  readonly #input: ProofInput;
  readonly #tree: 'planned' | 'present';
  readonly warnings = new Set<string>();
  readonly #certain: AbortSignal;
  #view: View | null = null;

  /** @param certain is aborted when the result of the proof is certain */
  constructor(input: ProofInput, tree: 'planned' | 'present', certain: AbortSignal) {
    this.#input = input;
    this.#tree = tree;
    this.#certain = certain;
  }

  /** @throws AlreadyCertain, ClawError INTERRUPTED */
  async run(command: TrialCommand): Promise<TrialRun> {
    const { line, files = [], parts, timeoutMs, limits = this.#input.limits } = command;
    const { root, environment, signal, onProgress } = this.#input;
    const certain = this.#certain;
    if (certain.aborted) throw new AlreadyCertain();
    const text =
      this.#tree === 'planned'
        ? command.told
        : `checking whether it also fails without the change: ${command.told}`;
    onProgress?.({ kind: 'started', text });
    const view = this.#laidOut();
    const readable = (output: string) =>
      plainText(output).replaceAll(`file://${view.path}/`, '').replaceAll(`${view.path}/`, '');
    const run = await runSandboxed(view.path, parseCommand(line, files), {
      root,
      environment,
      signal: signal === undefined ? certain : AbortSignal.any([signal, certain]),
      nodeModules: this.nodeModules(),
      limits,
      parts,
      viewBytes: view.sizeBytes,
      timeoutMs,
      onOutput: (output) => onProgress?.({ kind: 'output', text, output: readable(output) }),
    });
    const isCutOff = signal?.aborted === true || certain.aborted || run.stop?.limit === 'time';
    const outcome = run.isOk ? 'passed' : isCutOff ? 'stopped' : 'failed';
    onProgress?.({ kind: 'ended', text, outcome });
    throwIfInterrupted(signal);
    if (certain.aborted) throw new AlreadyCertain();
    if (run.warning !== null) this.warnings.add(run.warning);
    return { isOk: run.isOk, stop: run.stop, output: readable(run.output) };
  }

  /** Returns the packages of this tree, absolute; null for none. */
  nodeModules(): string | null {
    const { root, compared, nodeModules } = this.#input;
    const prepared = this.#tree === 'planned' ? nodeModules : (compared?.nodeModules ?? null);
    const own = join(root, 'node_modules');
    return prepared ?? (existsSync(own) ? own : null);
  }

  /** Reads the files that checks left at these paths. Does not follow links that they left. */
  keptFiles(paths: readonly string[]): ReadonlyMap<string, Buffer> {
    const kept = new Map<string, Buffer>();
    for (const path of paths) {
      const file = this.#view === null ? null : readOrNull(this.#view.path, path);
      if (file !== null) kept.set(path, file);
    }
    return kept;
  }

  remove(): void {
    this.#view?.remove();
  }

  #laidOut(): View {
    this.#view ??= this.#layOut();
    return this.#view;
  }

  #layOut(): View {
    const { root, paths, changed, tests, presentTests, compared, keep = [], memory } = this.#input;
    const isPlanned = this.#tree === 'planned';
    const kept = keep.flatMap((path) => {
      const bytes = memory?.readKept(path) ?? null;
      return bytes === null ? [] : [[path, bytes] as const];
    });
    return layOutView(root, {
      paths,
      changed: isPlanned ? changed : (compared?.files ?? new Map()),
      tests: isPlanned ? tests : presentTests,
      kept: new Map(kept),
      inMemory: true,
    });
  }
}

/**
 * Tells whether a failure is an old one: the present tree also fails, in each of the tests that fail now and with
 * each of the errors, as far as the command names them.
 */
export function failedBefore(planned: TrialRun, present: TrialRun): boolean {
  if (present.isOk) return false;
  const before = new Set(failingTests(present.output).map(({ name }) => name));
  if (before.size === 0) {
    return present.stop !== null || addedErrors(planned.output, present.output).length === 0;
  }
  return failingTests(planned.output).every(({ name }) => before.has(name));
}

function readOrNull(root: string, path: string): Buffer | null {
  try {
    return readTreeFile(root, path)?.bytes ?? null;
  } catch {
    return null; // A link, or no regular file: not worth keeping.
  }
}

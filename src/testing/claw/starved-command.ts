import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { CLAW, type Codebase, openCodebase } from './codebase.ts';

/** The calls that change a disk, and the one that makes a change last. */
const CALLS = ['rename', 'link', 'unlink', 'unlinkat', 'mkdir', 'rmdir', 'write', 'fsync'] as const;

/** The n-th of the command's calls of one kind fails, and every later one too. */
export type Starvation = {
  readonly call: (typeof CALLS)[number];
  readonly nth: number;
  readonly error: 'ENOSPC' | 'EIO';
};

/** A command, and the project that it is run in. */
export type Scenario = {
  readonly name: string;
  readonly args: readonly string[];
  readonly prepare: (codebase: Codebase) => Promise<void>;
};

/** A starved run: its exit code, and what the next command found. */
export type Starved = {
  readonly scenario: string;
  readonly starvation: Starvation;
  readonly exitCode: number | undefined;
  readonly tree: 'before' | 'after' | 'mixed';
  /** True if the call took place: the number of calls in a run varies a little. */
  readonly isHit: boolean;
  /** Empty where the exit code tells the truth and no decision is asked for. */
  readonly faults: readonly string[];
};

type Snapshot = string;

/**
 * Runs one command again and again, each time in a fresh copy of its project, on a disk that stays
 * broken from one call on. Needs strace.
 */
export class StarvedCommand {
  readonly #folder: string;
  readonly #scenario: Scenario;
  #count = 0;
  #ends: { readonly before: Snapshot; readonly after: Snapshot } | null = null;
  #written: readonly string[] = [];

  /** @param folder where the copies are made */
  constructor(folder: string, scenario: Scenario) {
    this.#folder = join(realpathSync(folder), scenario.name);
    this.#scenario = scenario;
  }

  /** Runs the command once as it should be, and names every call at which its disk can break. */
  async points(): Promise<readonly Omit<Starvation, 'error'>[]> {
    const template = openCodebase(join(this.#folder, 'template'));
    mkdirSync(template.root, { recursive: true });
    await this.#scenario.prepare(template);
    // The first command after a change of the sources compiles them, which is not part of what is tried.
    await this.#run(await this.#copy(), []);
    const codebase = await this.#copy();
    const before = snapshot(codebase);
    const { exitCode, log } = await this.#run(codebase, ['-y']);
    if (exitCode !== 0) throw new Error(`${this.#scenario.name} fails on a good disk`);
    this.#ends = { before, after: snapshot(codebase) };
    const written: string[] = [];
    const counts: Partial<Record<string, number>> = {};
    for (const line of log.split('\n')) {
      const [, call = '', path = ''] = /^\d+ +(\w+)\((?:\d+<(.*?)>)?/.exec(line) ?? [];
      // Not what is written to a pipe, nor to files that have another name in each run.
      const isElsewhere =
        call === 'write' &&
        (!path.startsWith(`${codebase.root}/`) ||
          /[a-z]-\d+/.test(path.slice(codebase.root.length)));
      if (call === '' || isElsewhere) continue;
      if (call === 'write') written.push(path.slice(codebase.root.length + 1));
      counts[call] = (counts[call] ?? 0) + 1;
    }
    this.#written = [...new Set(written)];
    return CALLS.flatMap((call) =>
      Array.from({ length: counts[call] ?? 0 }, (_, index) => ({ call, nth: index + 1 })),
    );
  }

  /** Starves the command at one point, and looks at what the next command finds on a good disk. */
  async try(starvation: Starvation): Promise<Starved> {
    const { call, nth, error } = starvation;
    const codebase = await this.#copy();
    const paths =
      call === 'write' ? this.#written.flatMap((path) => ['-P', codebase.path(path)]) : [];
    const how = `inject=${call}:error=${error}:when=${nth}+`;
    const { exitCode, stdout, log } = await this.#run(codebase, [...paths, '-e', how]);
    const next = await codebase.claw('status');
    const tree = this.#compare(codebase);
    const wanted = tree === 'after' ? 0 : 1;
    const faults = [
      isJson(stdout) ? '' : `no JSON on stdout: ${stdout}`,
      exitCode === wanted ? '' : `exit code ${exitCode}, and the tree is ${tree}: ${stdout}`,
      tree === 'mixed' ? 'the tree is mixed' : '',
      next.code === 0 ? '' : `the next command says: ${next.json.error?.message}`,
      unfinished(codebase).length === 0 ? '' : 'a transaction is still open',
    ].filter((fault) => fault !== '');
    rmSync(codebase.root, { recursive: true, force: true });
    const isHit = log.includes('(INJECTED)');
    return { scenario: this.#scenario.name, starvation, exitCode, tree, isHit, faults };
  }

  async #copy(): Promise<Codebase> {
    this.#count += 1;
    const root = join(this.#folder, `project-${this.#count}`);
    cpSync(join(this.#folder, 'template'), root, { recursive: true, preserveTimestamps: true });
    const codebase = openCodebase(root);
    // What a copied folder holds for undo counts only at the owner's word.
    if (codebase.has('.claw/backup')) await codebase.claw('recover', '--adopt');
    return codebase;
  }

  async #run({ root }: Codebase, options: readonly string[]) {
    const log = `${root}.log`;
    const claw = [process.execPath, CLAW, ...this.#scenario.args, '--json', '--yes', '--cwd', root];
    const trace = ['-f', '--seccomp-bpf', '-e', `trace=${CALLS.join(',')}`, ...options, '-o', log];
    const { exitCode, stdout } = await execa('strace', [...trace, ...claw], {
      reject: false,
      // strace counts the calls of each thread by itself.
      env: { UV_THREADPOOL_SIZE: '1' },
    });
    return { exitCode, stdout, log: readFileSync(log, 'utf8') };
  }

  #compare(codebase: Codebase): Starved['tree'] {
    const now = snapshot(codebase);
    if (now === this.#ends?.before) return 'before';
    return now === this.#ends?.after ? 'after' : 'mixed';
  }
}

/** Returns the tree and what is committed below `.claw`, apart from the moment of the run. */
function snapshot(codebase: Codebase): Snapshot {
  const { '.gitignore': _, '.gitattributes': __, ...state } = codebase.state();
  const all = JSON.stringify([codebase.tree(), state]);
  return all.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then');
}

function unfinished(codebase: Codebase): readonly string[] {
  if (!codebase.has('.claw/tx')) return [];
  return readdirSync(codebase.path('.claw/tx')).filter(
    (name) => !/^(view-|\.gitignore$)/.test(name),
  );
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

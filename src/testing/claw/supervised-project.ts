import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { vi } from 'vitest';
import { dayOf } from '../../supervisor/log/log.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const COPIED = ['bin', 'container', 'packages', 'src', 'package.json', 'tsconfig.json'];
// Several processes start one after the other meanwhile; only what hangs takes so long.
const WAIT_MS = 240_000;

/**
 * A folder for all trees of this process. They share compiled code, and a tree takes the place of an earlier one
 * that is gone, so that Node finds what it compiled there: a cold start costs about three warm ones.
 */
const place = realpathSync(mkdtempSync(join(tmpdir(), 'claw-trees-')));
process.once('exit', () => rmSync(place, { recursive: true, force: true }));
const taken = new Set<number>();

function takePlace(): number {
  const free = [...taken.keys(), taken.size].findIndex((_, at) => !taken.has(at));
  taken.add(free);
  return free;
}

/** A copy of this tree that an assistant can run from, and that may be changed. */
export class TestTree {
  readonly #place = takePlace();
  readonly dir = join(place, `tree-${this.#place}`);
  readonly dataDir = join(this.dir, 'data');

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.dir);
    for (const part of COPIED) {
      cpSync(join(REPOSITORY, part), join(this.dir, part), { recursive: true });
    }
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.dir, 'node_modules'));
    const config = 'exclude: [data/**, node_modules/**]\ncheck: []\n';
    const given = { 'claw.config.yaml': config, ...files };
    for (const [path, text] of Object.entries(given)) {
      mkdirSync(dirname(join(this.dir, path)), { recursive: true });
      writeFileSync(join(this.dir, path), text);
    }
  }

  /** Today's. */
  logFile(name: 'assistant' | 'supervisor'): string {
    return join(this.dataDir, 'logs', `${name}-${dayOf(Date.now())}.log`);
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
    taken.delete(this.#place);
  }
}

/** Returns a skill of one file, which brings no packages. */
export function oneFileSkill(name: string, path: string, text: string): Record<string, string> {
  const manifest = [
    `skill: ${name}`,
    'version: 1.0.0',
    `description: ${name}`,
    'core_version: 0.1.0',
    `adds: [${path}]`,
    'modifies: []',
    '',
  ];
  return {
    [`skills/${name}/manifest.yaml`]: manifest.join('\n'),
    [`skills/${name}/add/${path}`]: text,
  };
}

/** Returns the environment for a program of the tree: none of the owner's settings, and no image is built. */
export function environmentOf(tree: TestTree): Record<string, string | undefined> {
  const PATH = process.env['PATH'];
  const NODE_COMPILE_CACHE = join(place, 'code');
  return { PATH, HOME: tree.dir, TERM: 'xterm', CLAW_SANDBOX: 'bubblewrap', NODE_COMPILE_CACHE };
}

/** A program at whose pipes or terminal the test sits. */
export class TestConversation {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<unknown[]>;

  constructor(
    tree: TestTree,
    command: readonly string[],
    environment: Record<string, string> = {},
  ) {
    const [program = '', ...args] = command;
    this.child = spawn(program, args, {
      cwd: tree.dir,
      env: { ...environmentOf(tree), ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = once(this.child, 'close');
  }

  /** The assistant as `npm start` starts it. */
  static start(tree: TestTree, environment: Record<string, string> = {}): TestConversation {
    return new TestConversation(tree, [process.execPath, 'src/supervisor/entry.js'], environment);
  }

  write(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Writes what is left to say, closes the input, and waits for the exit code. */
  async end(text = ''): Promise<number | null> {
    this.child.stdin?.end(text);
    const [exitCode] = await this.#ended;
    return typeof exitCode === 'number' ? exitCode : null;
  }

  /** Waits until the output, or what came of it since the last time, holds a text. */
  async sees(part: string): Promise<void> {
    await vi.waitFor(
      () => {
        if (!this.stdout.includes(part)) {
          throw new Error(
            `not seen: ${part}\n--- stdout\n${this.stdout}\n--- stderr\n${this.stderr}`,
          );
        }
      },
      { timeout: WAIT_MS, interval: 20 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 30_000);
    await this.#ended;
    clearTimeout(timer);
  }
}

import { execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { TestTree } from '../../src/testing/claw/supervised-project.ts';
import { describeWithEngine } from '../../src/testing/engine.ts';

const MINUTES = 20 * 60_000;
/** Packages are links to these folders. */
const SHARED = ['node_modules', 'packages'].map((name) =>
  resolve(import.meta.dirname, '../..', name),
);
const IMAGE = process.env['CLAW_TEST_MACHINE'] ?? 'patchclaw-base:bookworm';
const QUESTIONS = ['/groups', '/tasks', '/cost'];

/** A machine: a container with a tree, the packages, and a folder that stands for the file on its way. */
class Machine {
  readonly tree: TestTree;
  readonly #options: readonly string[];

  constructor(tree: TestTree, kept: string) {
    this.tree = tree;
    const shared = SHARED.map((path) => `${path}:${path}:ro`);
    const mounts = [`${tree.dir}:/assistant`, `${kept}:/kept`, ...shared];
    this.#options = [
      ...[
        'run',
        '--rm',
        '-i',
        '--network',
        'none',
        '--hostname',
        `machine-${randomUUID().slice(0, 8)}`,
      ],
      ...mounts.flatMap((mount) => ['-v', mount]),
      ...[
        '-w',
        '/assistant',
        '-e',
        'HOME=/assistant',
        '-e',
        'CLAW_SANDBOX=bubblewrap',
        '-e',
        'TZ=UTC',
      ],
    ];
  }

  async claw(...args: readonly string[]): Promise<string> {
    const command = [...this.#options, IMAGE, 'node', 'bin/claw.js', ...args];
    const { stdout } = await promisify(execFile)('docker', command);
    return stdout;
  }

  /** Starts the assistant, asks it as its owner would, and returns what it printed after each question. */
  async answers(): Promise<readonly string[]> {
    const command = [...this.#options, IMAGE, 'node', 'src/supervisor/entry.js'];
    const child = spawn('docker', command, { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
    child.stdin.end(`${QUESTIONS.join('\n')}\n`);
    const code = await new Promise((ended) => child.once('close', ended));
    expect(`${code} ${printed}`).toMatch(/^0 /);
    return printed.split('\n> ').slice(1);
  }
}

/** Every row of every table of the databases in a folder. */
function dumpsOf(dataDir: string): unknown {
  const database = new Database(join(dataDir, 'claw.db'), { readonly: true });
  try {
    const names = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' ORDER BY name",
      )
      .pluck()
      .all();
    return names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).raw().all()]);
  } finally {
    database.close();
  }
}

/** The digest of each file below a folder. */
function digestsOf(folder: string, at = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, at)).sort()) {
    const path = join(at, name);
    if (lstatSync(join(folder, path)).isDirectory()) Object.assign(found, digestsOf(folder, path));
    else
      found[path] = createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex');
  }
  return found;
}

/** Writes what an assistant has learned in a while. */
function live(tree: TestTree): void {
  const store = openStore({ path: join(tree.dataDir, 'claw.db'), now: 1 });
  store.meta.set('greeted', 'yes');
  store.chats.see(
    { jid: 'terminal:main', channel: 'terminal', name: 'Terminal', isDirect: true },
    1,
  );
  store.groups.registerMain({ jid: 'terminal:main', name: 'Terminal' }, 1);
  const schedule = {
    kind: 'cron',
    text: '0 20 * * 0',
    timeZone: 'Europe/Berlin',
    anchor: 1,
  } as const;
  const task = { folder: 'main', createdBy: 'main', context: 'group', ifMissed: 'skip' } as const;
  const nextRun = Date.UTC(2100, 0, 1);
  store.tasks.add({ ...task, prompt: 'Remind us of the bins', schedule, nextRun }, 1);
  store.close();
  mkdirSync(join(tree.dir, 'groups/main'), { recursive: true });
  writeFileSync(join(tree.dir, 'groups/main/CLAUDE.md'), 'Likes tea.\n');
  writeFileSync(join(tree.dir, 'src/tools/own-edit.txt'), 'an edit that nothing has recorded\n');
}

await describeWithEngine('docker', 'two machines', () => {
  test(
    'a backup of one is the same assistant on the other: rows, code, and answers',
    async () => {
      using first = new TestTree();
      using second = new TestTree({ 'src/tools/stranger.txt': 'of another version\n' });
      const kept = mkdtempSync(join(tmpdir(), 'claw-kept-'));
      const old = new Machine(first, kept);
      const fresh = new Machine(second, kept);
      live(first);
      await old.claw('init', '--yes');
      const asked = await old.answers();
      await old.claw('backup', '/kept');
      const [file = ''] = readdirSync(kept);
      const rows = dumpsOf(first.dataDir);
      const told = await fresh.claw('restore', `/kept/${file}`, '--take-over', '--yes');
      expect(told).toContain(`Restored`);
      expect(dumpsOf(second.dataDir)).toEqual(rows);
      const code = (tree: TestTree) =>
        Object.fromEntries(
          ['.claw', 'src', 'groups', 'packages', 'container'].map((folder) => [
            folder,
            digestsOf(join(tree.dir, folder)),
          ]),
        );
      const isKept = ([path]: readonly [string, unknown]) =>
        !/^(cache|backup|tx|lock\.db)/.test(path);
      const [before, after] = [code(first), code(second)];
      for (const one of [before, after]) {
        one['.claw'] = Object.fromEntries(Object.entries(one['.claw'] ?? {}).filter(isKept));
      }
      expect(Object.keys(before['.claw'] ?? {}).length).toBeGreaterThan(10);
      expect(after).toEqual(before);
      const again = await fresh.answers();
      expect(asked.length).toBeGreaterThanOrEqual(QUESTIONS.length);
      expect(asked.join('\n')).toContain('Remind us of the bins');
      expect(again).toEqual(asked);
      rmSync(kept, { recursive: true });
    },
    MINUTES,
  );
});

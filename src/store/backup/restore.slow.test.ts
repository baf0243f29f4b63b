import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CALLS,
  census,
  inject,
  spread,
} from '../../../packages/claw/src/transaction/testing/strace.ts';
import { swapFolder } from '../../supervisor/restore-swap.js';
import { openStore } from '../store.ts';
import type { Part } from './archive-format.ts';
import { readFence } from './fence.ts';
import { makeBackup } from './make-backup.ts';
import type { BackupLock } from './packed-stream.ts';
import {
  type Life,
  type LinkComparison,
  type Places,
  planRestore,
  unpackBackup,
} from './restore.ts';

const SWAP = join(import.meta.dirname, '../../supervisor/restore-swap.js');
const VERB = join(import.meta.dirname, '../../verbs/restore.ts');
/** Beside those that change a folder: the calls that bring bytes to the disk. */
const TRACED = [...CALLS, 'openat', 'pwrite64', 'write', 'ftruncate'] as const;
/** A few calls of each kind are tried in a run of this test; with a larger number, all. */
const TRIED = Number(process.env['CLAW_KILLS'] ?? 2);
const NOW = Date.UTC(2026, 10, 28, 12);
const IDENTITY = await generateIdentity();
const LOCK: BackupLock = {
  kind: 'recipients',
  recipients: [await identityToRecipient(IDENTITY)],
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'restore-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Lays out an installation that was used. */
function used(name: string): Places {
  const projectDir = join(root, name);
  const dataDir = join(projectDir, 'data');
  put(projectDir, {
    '.env': 'MODEL_KEY=old\n',
    'package.json': '{"version":"1.0.0"}',
    'src/own.ts': 'mine\n',
    'src/gone.ts': 'goes\n',
    '.claw/state.txt': 'one\n',
    'groups/main/CLAUDE.md': 'Likes tea.',
    'groups/main/notes.md': 'old notes',
    'data/sessions/main/talk.jsonl': '{}\n',
    'data/matrix/keys.json': 'ratchet 1',
  });
  const store = openStore({ path: join(dataDir, 'claw.db'), now: NOW });
  store.meta.set('who', 'before');
  store.close();
  const link = new Database(
    mkdirSync(join(dataDir, 'whatsapp')) ?? join(dataDir, 'whatsapp/link.db'),
  );
  link.exec('CREATE TABLE ratchet (n INTEGER); INSERT INTO ratchet VALUES (1)');
  link.close();
  return { projectDir, dataDir };
}

async function backupOf(places: Places, lock = LOCK): Promise<string> {
  const { file } = await makeBackup({
    ...places,
    folder: join(root, 'kept'),
    reason: 'manual',
    lock,
    isSecret: (setting) => setting.includes('KEY'),
    now: NOW,
  });
  return file;
}

async function stage(
  file: string,
  live: Places,
  only: readonly Part[] | null,
  life: Life = 'fenced',
  comparison: LinkComparison = 'older',
) {
  const at = (name: string): Places => ({
    projectDir: join(live.projectDir, '.restore/1', name),
    dataDir: join(live.dataDir, 'restoring/1', name),
  });
  const chosen = only === null ? null : new Set(only);
  const unpacked = await unpackBackup(
    file,
    { identities: [IDENTITY] },
    at('new'),
    (part) => chosen === null || chosen.has(part),
  );
  const instance = join(live.dataDir, 'instance.json');
  const plan = await planRestore(unpacked, {
    live,
    staged: at('new'),
    aside: at('old'),
    only: chosen,
    life,
    compareLinks: () => comparison,
    liveInstance: existsSync(instance) ? JSON.parse(readFileSync(instance, 'utf8')).id : null,
    newInstance: 'a-new-life',
    now: NOW,
  });
  const leftovers = [join(live.dataDir, 'restoring')];
  return { unpacked, plan, swap: { dataDir: live.dataDir, steps: plan.steps, leftovers } };
}

async function restore(
  file: string,
  live: Places,
  only: readonly Part[] | null = null,
  life?: Life,
  comparison?: LinkComparison,
) {
  const { plan, unpacked, swap } = await stage(file, live, only, life, comparison);
  const { publishSwap } = await import('../../supervisor/restore-swap.js');
  publishSwap(live.projectDir, swap);
  return { plan, unpacked };
}

const OF_PROCESSES =
  /^data\/(backups|restoring|tmp|instance\.(db|pid))|^\.restore|^\.claw\/lock\.db|-(wal|shm|journal)$/;

/** All files of an installation but those of a process, with their contents; of databases the rows. */
function contentsOf({ projectDir }: Places): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const name of readdirSync(join(projectDir, path))) {
      const inner = join(path, name);
      if (OF_PROCESSES.test(inner)) continue;
      if (lstatSync(join(projectDir, inner)).isDirectory()) walk(inner);
      else
        found[inner] = name.endsWith('.db')
          ? dump(join(projectDir, inner))
          : readFileSync(join(projectDir, inner), 'utf8');
    }
  };
  walk('');
  return found;
}

function dump(path: string): string {
  const database = new Database(path);
  try {
    const tables = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' ORDER BY name",
      )
      .pluck()
      .all() as string[];
    return JSON.stringify(
      tables.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]),
      (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value),
    );
  } finally {
    database.close();
  }
}

/** Goes on after a backup was made: everything has changed since. */
function live(places: Places): void {
  put(places.projectDir, {
    '.env': 'MODEL_KEY=new\n',
    'src/own.ts': 'mine, later\n',
    'src/added.ts': 'later\n',
    'groups/main/CLAUDE.md': 'Likes coffee.',
    'groups/main/later.md': 'later',
    'groups/office/CLAUDE.md': 'A group that was added.',
    'data/matrix/keys.json': 'ratchet 2',
  });
  rmSync(join(places.projectDir, 'src/gone.ts'));
  const store = openStore({ path: join(places.dataDir, 'claw.db'), now: NOW });
  store.meta.set('who', 'after');
  store.close();
  const link = new Database(join(places.dataDir, 'whatsapp/link.db'));
  link.exec('UPDATE ratchet SET n = 2');
  link.close();
}

describe('a restore', () => {
  test('on an empty machine brings back every file and every row, and holds the channels', async () => {
    const first = used('first');
    const file = await backupOf(first);
    const second = { projectDir: join(root, 'second'), dataDir: join(root, 'second/data') };
    put(second.projectDir, {
      'package.json': '{"version":"0.9.0"}',
      'src/stranger.ts': 'of another version',
    });
    const { plan } = await restore(file, second);
    const { 'data/fenced.json': fence, ...restored } = contentsOf(second);
    expect(restored).toEqual(contentsOf(first));
    expect(fence).toBeDefined();
    expect(readFence(second.dataDir)).toEqual({ restoredAt: NOW, backupFrom: NOW });
    expect(plan.code.removed).toEqual(['project/src/stranger.ts']);
    expect(existsSync(join(second.projectDir, '.restore'))).toBe(false);
  });

  test('takes over without a fence, or begins a life without logins', async () => {
    const file = await backupOf(used('first'));
    const over = { projectDir: join(root, 'over'), dataDir: join(root, 'over/data') };
    await restore(file, over, null, 'take-over');
    expect(readFence(over.dataDir)).toBeNull();
    expect(existsSync(join(over.dataDir, 'whatsapp/link.db'))).toBe(true);
    const fresh = { projectDir: join(root, 'new'), dataDir: join(root, 'new/data') };
    await restore(file, fresh, null, 'new');
    expect(readFence(fresh.dataDir)).toBeNull();
    expect(existsSync(join(fresh.dataDir, 'whatsapp'))).toBe(false);
    expect(existsSync(join(fresh.dataDir, 'matrix'))).toBe(false);
    expect(readFileSync(join(fresh.dataDir, 'instance.json'), 'utf8')).toContain('a-new-life');
  });

  test('in place keeps newer links, logins and .env, and needs no fence', async () => {
    const places = used('first');
    const before = contentsOf(places);
    const file = await backupOf(places);
    live(places);
    const { plan } = await restore(file, places);
    const after = contentsOf(places);
    expect(after).toEqual({
      ...before,
      'data/instance.json': expect.any(String),
      'groups/office/CLAUDE.md': 'A group that was added.',
      '.env': 'MODEL_KEY=new\n',
      'data/matrix/keys.json': 'ratchet 2',
      'data/whatsapp/link.db': '[["ratchet",[{"n":2}]]]',
    });
    expect(plan.isFenced).toBe(false);
    expect(plan.notes).toHaveLength(3);
  });

  test('never puts an older link to WhatsApp in the place of a newer one, not even if it is named', async () => {
    const places = used('first');
    const file = await backupOf(places);
    live(places);
    const { plan } = await restore(file, places, ['link']);
    expect(plan.steps).toEqual([]);
    expect(dump(join(places.dataDir, 'whatsapp/link.db'))).toBe('[["ratchet",[{"n":2}]]]');
  });

  test('takes the link of the backup where none is paired, or where its keys are newer', async () => {
    for (const comparison of ['newer', 'not paired'] as const) {
      const places = used(comparison);
      const file = await backupOf(places);
      live(places);
      const { plan } = await restore(file, places, ['link'], 'fenced', comparison);
      expect(plan.notes).toHaveLength(comparison === 'newer' ? 1 : 0);
      expect(dump(join(places.dataDir, 'whatsapp/link.db'))).toBe('[["ratchet",[{"n":1}]]]');
    }
    for (const comparison of ['same', 'another device', 'both went on', 'unreadable'] as const) {
      const places = used(comparison);
      const file = await backupOf(places);
      live(places);
      const { plan } = await restore(file, places, ['link'], 'fenced', comparison);
      expect(plan.notes).toHaveLength(1);
      expect(plan.steps).toEqual([]);
    }
  });

  test('of one part leaves the others alone', async () => {
    const places = used('first');
    const file = await backupOf(places);
    live(places);
    const before = contentsOf(places);
    await restore(file, places, ['memory']);
    expect(contentsOf(places)).toEqual({ ...before, 'groups/main/CLAUDE.md': 'Likes tea.' });
  });

  test('does not do again what was under way when the backup was made', async () => {
    const places = used('first');
    const database = new Database(join(places.dataDir, 'claw.db'));
    database.exec(`
      INSERT INTO chats (jid, channel, name, is_direct, seen_at) VALUES ('a@x', 'x', 'A', 1, 1);
      INSERT INTO groups (jid, folder, name, needs_trigger, is_main, registered_at) VALUES ('a@x', 'main', 'A', 0, 1, 1);
      INSERT INTO outbox (message_id, jid, text, state, created_at) VALUES ('m1', 'a@x', 'hello', 'queued', 1);
      INSERT INTO turns (id, jid, kind, state, from_seq, upto_seq, created_at) VALUES ('t1', 'a@x', 'agent', 'claimed', 0, 0, 1);
    `);
    database.close();
    const file = await backupOf(places);
    const { unpacked } = await restore(file, places);
    expect(unpacked.dropped).toEqual({ turns: 1, messages: 1 });
    const store = openStore({ path: join(places.dataDir, 'claw.db'), now: NOW });
    expect(store.outbox.heads()).toEqual([]);
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0 });
    store.close();
  });

  test('refuses a database that is damaged inside, although its digest is right', async () => {
    const places = used('first');
    const path = join(places.dataDir, 'databases/service-x.db');
    mkdirSync(join(path, '..'));
    writeFileSync(path, 'no database at all, but a file of that name');
    const file = await backupOf(places);
    await expect(stage(file, places, null)).rejects.toMatchObject({ code: 'DATABASE_DAMAGED' });
  });
});

/** An installation that can be put back as it is now, and the program that finishes what was cut short in it. */
function repeated({ projectDir }: Places) {
  const saved = join(root, 'saved');
  execFileSync('cp', ['-a', projectDir, saved]);
  return {
    reset() {
      rmSync(projectDir, { recursive: true, force: true });
      execFileSync('cp', ['-a', saved, projectDir]);
    },
    finish: program(
      `import { finishInterruptedRestore } from ${JSON.stringify(SWAP)};
       console.log(await finishInterruptedRestore(${JSON.stringify(projectDir)}));`,
    ),
  };
}

function program(code: string): readonly string[] {
  return [process.execPath, '--input-type=module', '-e', code];
}

function run([file = '', ...args]: readonly string[]): void {
  execFileSync(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}

describe('a restore that is killed', () => {
  test('from its first call to its last is before or after, and the next one sweeps up', async () => {
    const origin = used('origin');
    const file = await backupOf(origin, { kind: 'none' });
    live(origin);
    const before = JSON.stringify(contentsOf(origin));
    const { reset, finish } = repeated(origin);
    const restoring = program(
      `import { verb } from ${JSON.stringify(VERB)};
       const place = { ...${JSON.stringify(origin)}, now: () => ${NOW} };
       const { value } = verb.open({}, place);
       const yes = async () => 'yes';
       const { signal } = new AbortController();
       await value({ words: [${JSON.stringify(file)}], options: {}, consent: yes, progress() {}, signal });`,
    );
    const log = join(root, 'strace.log');
    const counts = await census(restoring, log, TRACED);
    const after = JSON.stringify(contentsOf(origin));
    expect(after).not.toBe(before);
    const seen = { before: 0, after: 0 };
    for (const call of TRACED) {
      for (const nth of spread(counts[call] ?? 0, TRIED)) {
        reset();
        const { isHit } = await inject(restoring, log, { call, nth, effect: 'SIGKILL' }, TRACED);
        run(finish);
        const now = JSON.stringify(contentsOf(origin));
        const state = now === before ? 'before' : now === after ? 'after' : 'mixed';
        expect(`${call} ${nth}: ${state}`).not.toContain('mixed');
        // A thread that makes fewer of these calls than all together is not reached by the last ones.
        if (isHit && state !== 'mixed') seen[state] += 1;
      }
    }
    console.info(`restore: ${seen.before} kills left all as before, ${seen.after} as after`);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
    run(restoring);
    expect(JSON.stringify(contentsOf(origin))).toBe(after);
    const leftovers = [swapFolder(origin.projectDir), join(origin.dataDir, 'restoring')];
    for (const path of [...leftovers, join(origin.projectDir, '.claw/lock.db')]) {
      expect(existsSync(path)).toBe(false);
    }
    expect(readdirSync(join(origin.dataDir, 'tmp'))).toEqual([]);
  });

  test('while it takes the place of what was there is before or after, and after once it was finished', async () => {
    const origin = used('origin');
    const file = await backupOf(origin);
    live(origin);
    const before = contentsOf(origin);
    const { swap } = await stage(file, origin, null);
    const swapFile = join(root, 'swap.json');
    writeFileSync(swapFile, JSON.stringify(swap));
    const { reset, finish } = repeated(origin);
    const publish = program(
      `import { readFileSync } from 'node:fs'; import { publishSwap } from ${JSON.stringify(SWAP)};
       publishSwap(${JSON.stringify(origin.projectDir)}, JSON.parse(readFileSync(${JSON.stringify(swapFile)}, 'utf8')));`,
    );
    const log = join(root, 'strace.log');
    const counts = await census(publish, log);
    const after = contentsOf(origin);
    expect(after).not.toEqual(before);
    const points = CALLS.flatMap((call) =>
      Array.from({ length: counts[call] ?? 0 }, (_, at) => ({ call, nth: at + 1 })),
    );
    expect(points.length).toBeGreaterThan(40);
    const seen = { before: 0, after: 0 };
    for (const [n, point] of points.entries()) {
      reset();
      const { isHit } = await inject(publish, log, { ...point, effect: 'SIGKILL' });
      expect(`${point.call} ${point.nth} ${isHit}`).toBe(`${point.call} ${point.nth} true`);
      // Every other recovery is killed as well.
      if (n % 2 === 0)
        await inject(finish, log, { call: 'rename', nth: 1 + (n % 5), effect: 'SIGKILL' });
      run(finish);
      const now = JSON.stringify(contentsOf(origin));
      const state =
        now === JSON.stringify(before)
          ? 'before'
          : now === JSON.stringify(after)
            ? 'after'
            : 'mixed';
      expect(`${point.call} ${point.nth}: ${state}`).not.toContain('mixed');
      if (state !== 'mixed') seen[state] += 1;
    }
    expect(seen.before).toBeGreaterThan(0);
    expect(seen.after).toBeGreaterThan(0);
  });
});

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../../..');

/**
 * A release of a few files, whose assistant is up in a second: what a fleet asks of an instance, and no more. Its
 * messages are in a real database, its supervisor's socket and the results of its `claw` are those of Patchclaw.
 */
export function writeSmallRelease(dir: string, files: Readonly<Record<string, string>> = {}): void {
  for (const [path, text] of Object.entries({ ...FILES, ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  for (const part of ['package.json', 'lib', `prebuilds/linux-${process.arch}.node`]) {
    const path = join('node_modules/better-sqlite3', part);
    cpSync(join(PROJECT, path), join(dir, path), { recursive: true });
  }
  execFileSync('git', ['init', '--quiet'], { cwd: dir });
}

const FILES = {
  'package.json': '{"type":"module"}\n',
  '.gitignore': 'node_modules/\n/data/\n.env\n',
  version: 'old\n',
  'scripts/prepare.js': '',
  'bin/claw.js': `
    import { existsSync, readFileSync, writeFileSync, mkdirSync, cpSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    const [word] = process.argv.slice(2);
    const say = (value) => console.log(JSON.stringify(value));
    const version = () => readFileSync('version', 'utf8').trim();
    if (word === 'init') {
      for (const folder of ['data', 'groups']) mkdirSync(folder, { recursive: true });
      (await import('../src/database.js')).open().close();
    }
    if (word === 'status') say({ data: { state: version() } });
    if (word === 'doctor') say({ data: { findings: [] } });
    if (word === 'update') {
      const release = '/opt/patchclaw/release';
      if (existsSync(release + '/slow-merge')) await setTimeout(600_000);
      for (const path of ['version', 'src', 'bin']) cpSync(release + '/' + path, path, { recursive: true });
      say({ ok: true, error: null, conflicts: [] });
    }
  `,
  'src/database.js': `
    import Database from 'better-sqlite3';
    export function open() {
      const database = new Database('data/claw.db');
      database.exec(\`
        CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, stored_at INTEGER);
        CREATE TABLE IF NOT EXISTS turns (id TEXT, state TEXT, attempts INTEGER);
        CREATE TABLE IF NOT EXISTS outbox (message_id TEXT, state TEXT, attempts INTEGER);
        CREATE TABLE IF NOT EXISTS tasks (state TEXT, next_run INTEGER);
        CREATE TABLE IF NOT EXISTS meta (key TEXT, value TEXT);
      \`);
      return database;
    }
  `,
  'src/supervisor/entry.js': `
    import { existsSync, rmSync } from 'node:fs';
    import { createServer } from 'node:net';
    import { open } from '../database.js';
    import { begin } from '../begin.js';
    open().close();
    await begin({ isTrial: existsSync('data/fenced.json'), open });
    rmSync('data/control.sock', { force: true });
    createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write('{"kind":"completions","id":1,"lines":["/status"]}\\n'));
    }).listen('data/control.sock');
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
  `,
  'src/begin.js': 'export const begin = () => {};\n',
};

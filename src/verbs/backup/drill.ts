import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import {
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { type BackupReason, type Part, partOf } from '../../store/backup/archive-format.ts';
import { noteBackupState } from '../../store/backup/backup-state.ts';
import { codeFiles } from '../../store/backup/contents.ts';
import { copyDatabase, rowsOf } from '../../store/backup/database-copy.ts';
import { fencePath } from '../../store/backup/fence.ts';
import { backupsFolder, listBackups } from '../../store/backup/kept-backups.ts';
import { type Places, placeOf, type Unpacked, unpackBackup } from '../../store/backup/restore.ts';
import { type VerbCall, type VerbEnd, VerbError } from '../../verb.ts';
import { type Installation, momentWords, saveInstallation, verifyCode } from './installation.ts';

/** Keys and logins have no business in a drill. */
const WITHOUT: ReadonlySet<Part> = new Set(['settings', 'link', 'other']);
/** One from before a migration has the tables of older code; one from before a repair may lack the database. */
const BEFORE_CHANGE: ReadonlySet<BackupReason> = new Set(['migration', 'repair']);
const QUESTIONS = 3;
const ANSWER_MS = 180_000;
const LEAVE_MS = 15_000;
const SHOWN = 600;

/**
 * Restores the newest backup into a temporary folder, compares files and rows, starts it there without channels and keys,
 * asks it three questions, which a model of this process answers, and deletes it. The result is remembered for doctor.
 *
 * @throws VerbError with what went wrong
 */
export async function drill(place: Installation, call: VerbCall): Promise<VerbEnd> {
  try {
    const end = await drillIn(place, call);
    noteBackupState(place.dataDir, { drilledAt: place.now(), drillFailure: null });
    return end;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!call.signal.aborted) {
      const drillFailure = { at: place.now(), reason: reason.slice(0, 2_000) };
      noteBackupState(place.dataDir, { drillFailure });
    }
    throw error;
  }
}

async function drillIn(place: Installation, call: VerbCall): Promise<VerbEnd> {
  const folder = join(place.dataDir, 'tmp', `drill-${randomUUID().slice(0, 8)}`);
  const sockets = mkdtempSync(join(tmpdir(), 'drill-'));
  try {
    const file = await backupToTry(place, call, folder);
    const tried = await tryBackup(place, call, { file, folder: join(folder, 'newest'), sockets });
    // With a backup that is older than the last change nothing can be compared, so one of now is tried as well.
    const compared = tried.isCompared
      ? tried
      : await tryBackup(place, call, {
          file: await freshBackup(place, call, folder),
          folder: join(folder, 'now'),
          sockets,
        });
    const { createdAt, files, rows, asked } = tried;
    const { isCompared } = compared;
    return {
      data: { file, createdAt, files, rows, asked: asked.kind, isCompared },
      lines: [
        `The backup of ${momentWords(createdAt)} works: ${files} files and ${rows} rows came back as they were, and it answered ${QUESTIONS} questions.`,
        comparisonLine(tried.isCompared, isCompared),
        ...(asked.kind === 'host'
          ? ['There is no bubblewrap here, so they were commands that need no agent.']
          : []),
      ],
    };
  } finally {
    // What an agent of the trial still writes while it ends comes into a folder that is being emptied.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    await rm(sockets, { recursive: true, force: true });
  }
}

function comparisonLine(isNewestCompared: boolean, isCompared: boolean): string {
  if (isNewestCompared) return 'A copy of this installation gave the same answers.';
  return isCompared
    ? 'This installation has changed since, so a backup of now was tried too: it and a copy of this installation gave the same answers.'
    : 'Its answers were not compared with those of this installation, which changes all the time.';
}

/** The result of trying one backup. */
type Tried = {
  readonly createdAt: number;
  readonly files: number;
  readonly rows: number;
  readonly asked: Asked;
  /** Whether this installation was as the backup has it, and gave the same answers. */
  readonly isCompared: boolean;
};

async function tryBackup(
  place: Installation,
  call: VerbCall,
  {
    file,
    folder,
    sockets,
  }: { readonly file: string; readonly folder: string; readonly sockets: string },
): Promise<Tried> {
  const trial: Places = {
    projectDir: join(folder, 'project'),
    dataDir: join(folder, 'project/data'),
  };
  call.progress('Restoring it into a temporary folder');
  const unpacked = await unpackBackup(file, {}, trial, (part) => !WITHOUT.has(part));
  const { facts, wanted } = unpacked;
  await verifyCode(trial.projectDir, unpacked, call);
  compareRows(join(trial.dataDir, 'claw.db'), facts.rows);
  await symlink(join(place.projectDir, 'node_modules'), join(trial.projectDir, 'node_modules'));
  call.progress('Starting it without channels, and asking three questions');
  const options = { sockets, signal: call.signal, now: place.now() };
  const isCompared = await isUnchanged(place, unpacked, trial);
  const asked = await ask(trial, options);
  if (isCompared) {
    call.progress('Asking a copy of this installation the same');
    const copy = { projectDir: join(folder, 'copy'), dataDir: join(folder, 'copy/data') };
    await copyInstallation(place, copy);
    compareAnswers(asked, await ask(copy, options));
  }
  const rows = Object.values(facts.rows).reduce((sum, one) => sum + one, 0);
  return { createdAt: facts.createdAt, files: wanted.length, rows, asked, isCompared };
}

/** Returns the newest backup that needs no key; where there is none, one is made for the drill alone. */
async function backupToTry(place: Installation, call: VerbCall, folder: string): Promise<string> {
  const all = listBackups(backupsFolder(place.dataDir));
  const newest = all.find(({ isLocked, reason }) => !isLocked && !BEFORE_CHANGE.has(reason));
  // The key of encrypted ones is not on this machine, so the newest of them is proved by another of the same state.
  if (newest !== undefined && all[0]?.isLocked !== true) return newest.file;
  return await freshBackup(place, call, folder);
}

async function freshBackup(place: Installation, call: VerbCall, folder: string): Promise<string> {
  call.progress('Making a backup for the drill');
  const made = await saveInstallation(place, {
    folder: join(folder, 'backup'),
    settings: {},
    reason: 'manual',
    lock: { kind: 'none' },
    signal: call.signal,
  });
  return made.file;
}

function compareRows(path: string, rows: Readonly<Record<string, number>>): void {
  const database = new Database(path);
  try {
    const there = rowsOf(database);
    const names = new Set([...Object.keys(rows), ...Object.keys(there)]);
    const different = [...names].filter((name) => rows[name] !== there[name]);
    if (different.length > 0) {
      throw new VerbError(
        'failed',
        `Rows are missing in the restored database: ${different.join(', ')}.`,
      );
    }
  } finally {
    database.close();
  }
  withoutBudget(path);
}

/** Who answered, and what could differ from one installation to another: all that the model was told, or what was printed. */
type Asked = { readonly kind: 'agent' | 'host'; readonly answers: readonly string[] };

/** Tables that a restore changes, or that say nothing of what the assistant knows. */
const PASSING = /^(usage|budgets|meta|outbox|turns)$/;
/** Folders that answers come from, beside the code and the database. */
const KNOWLEDGE = ['project/groups', 'data/sessions', 'data/of-chats'];
const COMPARED: ReadonlySet<Part> = new Set(['code', 'groups', 'memory', 'sessions']);

/** Tells whether this installation is still as the backup has it, in all that it answers with. */
async function isUnchanged(
  place: Places,
  { facts, wanted }: Unpacked,
  trial: Places,
): Promise<boolean> {
  const compared = wanted.filter(({ path }) => COMPARED.has(partOf(path)));
  for (const { path, sha256 } of compared) {
    const bytes = await readFile(placeOf(path, place)).catch(() => null);
    if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256) return false;
  }
  const known = new Set(compared.map(({ path }) => placeOf(path, place)));
  for (const folder of KNOWLEDGE.map((path) => placeOf(path, place))) {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }).catch(
      () => [],
    )) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || known.has(path)) continue;
      // An older one should be in the backup: then the answers tell.
      if ((await stat(path)).mtimeMs > facts.createdAt) return false;
    }
  }
  const [here, there] = [place, trial].map(({ dataDir }) => digestOfRows(join(dataDir, 'claw.db')));
  return here === there;
}

function digestOfRows(path: string): string {
  const database = new Database(path, { readonly: true });
  try {
    const hash = createHash('sha256');
    for (const name of Object.keys(rowsOf(database)).filter((one) => !PASSING.test(one))) {
      hash.update(`${name}\n`);
      for (const row of database
        .prepare(`SELECT * FROM "${name.replaceAll('"', '""')}"`)
        .raw()
        .iterate()) {
        hash.update(JSON.stringify(row));
      }
    }
    return hash.digest('hex');
  } finally {
    database.close();
  }
}

/** Copies what this installation answers with, file by file: no archive has a part in it. */
async function copyInstallation(place: Places, to: Places): Promise<void> {
  for (const path of KNOWLEDGE.filter((one) => existsSync(placeOf(one, place)))) {
    await cp(placeOf(path, place), placeOf(path, to), { recursive: true });
  }
  for (const { path, from } of await codeFiles(place.projectDir)) {
    await mkdir(dirname(placeOf(path, to)), { recursive: true });
    await copyFile(from, placeOf(path, to));
  }
  await mkdir(to.dataDir, { recursive: true, mode: 0o700 });
  const own = await readdir(join(place.dataDir, 'databases')).catch(() => []);
  await mkdir(join(to.dataDir, 'databases'), { mode: 0o700 });
  for (const name of [
    'claw.db',
    ...own.filter((one) => one.endsWith('.db')).map((one) => `databases/${one}`),
  ]) {
    await copyDatabase(join(place.dataDir, name), join(to.dataDir, name));
  }
  withoutBudget(join(to.dataDir, 'claw.db'));
  await symlink(join(place.projectDir, 'node_modules'), join(to.projectDir, 'node_modules'));
}

function compareAnswers(restored: Asked, present: Asked): void {
  const different = present.answers.findIndex((answer, at) => answer !== restored.answers[at]);
  if (different < 0) return;
  throw new VerbError(
    'failed',
    `The restored assistant does not answer as this installation does, although both hold the same. Question ${different + 1}: ${differenceOf(restored.answers[different] ?? '', present.answers[different] ?? '')}`,
  );
}

/** Shows where two texts begin to differ. */
function differenceOf(restored: string, present: string): string {
  let at = 0;
  while (at < present.length && present[at] === restored[at]) at += 1;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
  return `${around(restored)} instead of ${around(present)}.`;
}

function withoutBudget(path: string): void {
  const database = new Database(path);
  try {
    // It is asked by a model of its own, whatever is left of today's budget.
    database.exec(
      "DELETE FROM usage; DELETE FROM budgets; DELETE FROM meta WHERE key LIKE 'model.of%'",
    );
  } finally {
    database.close();
  }
}

type AskOptions = { readonly sockets: string; readonly signal: AbortSignal; readonly now: number };

/** Starts the restored assistant as its owner would, with this process as the model. */
async function ask(
  { projectDir, dataDir }: Places,
  { sockets, signal, now }: AskOptions,
): Promise<Asked> {
  const hasBubblewrap = canRun('bwrap');
  const word = randomUUID().slice(0, 8);
  const model = await startModel(word);
  const settings = {
    MODEL: 'openai/drill',
    OPENAI_API_KEY: 'drill',
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    CLAW_SANDBOX: 'bubblewrap',
    CLAW_SOCKETS: sockets,
    BUDGET_USD: 'none',
    BUDGET_TOKENS: 'none',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(projectDir, '.env'), lines.join(''), { mode: 0o600 });
  await mkdir(dataDir, { recursive: true });
  const mark = { restoredAt: now, backupFrom: now };
  await writeFile(fencePath(dataDir), JSON.stringify(mark), { mode: 0o600 });
  const child = spawn(process.execPath, ['src/supervisor/entry.js'], {
    cwd: projectDir,
    env: { PATH: process.env['PATH'], HOME: projectDir },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
  });
  const output = new Output(child);
  try {
    for (let n = 1; n <= QUESTIONS; n += 1) {
      if (hasBubblewrap) child.stdin.write(`Drill question ${n}: what do you know?\n`);
      else child.stdin.write(`${['/status', '/groups', '/tasks'][n - 1]}\n`);
      await (hasBubblewrap ? output.until(`${word} ${n}`) : output.prompts(n + 1));
    }
    return hasBubblewrap
      ? { kind: 'agent', answers: model.told() }
      : { kind: 'host', answers: output.answers(QUESTIONS) };
  } finally {
    child.stdin.end();
    await output.ended(LEAVE_MS, () => child.kill('SIGKILL'));
    model.close();
  }
}

function canRun(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The output of the trial's process, and whether the process still runs. */
class Output {
  #text = '';
  #exit: number | null = null;
  readonly #closed: Promise<void>;
  #wake = (): void => {};

  constructor(child: ReturnType<typeof spawn>) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#text = `${this.#text}${chunk}`.slice(-1_000_000);
        this.#wake();
      });
    }
    // Without it the broken pipe of an assistant that has ended would be an error of this process.
    child.stdin?.on('error', () => {});
    this.#closed = new Promise((resolve) => {
      const end = (): void => {
        this.#exit = child.exitCode ?? -1;
        this.#wake();
        resolve();
      };
      child.once('close', end).once('error', end);
    });
  }

  until(words: string): Promise<void> {
    return this.#waitFor(() => this.#text.includes(words));
  }

  /** Returns the text that was printed after each of the first `count` prompts. */
  answers(count: number): readonly string[] {
    return this.#text.split('\n> ').slice(1, count + 1);
  }

  /** Resolves when a terminal would have been ready for input so many times. */
  prompts(count: number): Promise<void> {
    return this.#waitFor(() => this.#text.split('\n> ').length > count);
  }

  async #waitFor(isThere: () => boolean): Promise<void> {
    const until = performance.now() + ANSWER_MS;
    while (!isThere()) {
      if (this.#exit !== null) throw this.#failure('it ended');
      if (this.#text.includes('Say `/retry`')) throw this.#failure('its agent failed');
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw this.#failure('there was no answer in three minutes');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #failure(what: string): VerbError {
    const said = this.#text.trim().slice(-SHOWN);
    return new VerbError(
      'failed',
      `The restored assistant did not answer: ${what}. It said: ${said}`,
    );
  }

  async ended(limitMs: number, kill: () => void): Promise<void> {
    const timer = setTimeout(kill, limitMs);
    await this.#closed;
    clearTimeout(timer);
  }
}

/** Takes times and the word of this trial out of what a model was told: all else is what the assistant knows. */
function comparable(body: string, word: string): string {
  return body.replaceAll(word, 'WORD').replaceAll(/\d{1,2}:\d{2}(:\d{2})?/g, 'TIME');
}

/** Answers each question with a word of this drill and the number of the question, in the protocol of OpenAI. */
async function startModel(
  word: string,
): Promise<{ readonly port: number; told(): readonly string[]; close(): void }> {
  const told = new Map<string, string>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.once('end', () => {
      const number = [...body.matchAll(/Drill question (\d)/g)].at(-1)?.[1] ?? '0';
      told.set(number, comparable(body, word));
      const frame = (delta: object, finish: string | null) => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        const chunk = { id: 'drill', object: 'chat.completion.chunk', created: 1, model: 'drill' };
        return `data: ${JSON.stringify({ ...chunk, choices, ...(finish === null ? {} : { usage }) })}\n\n`;
      };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frame({ role: 'assistant', content: `${word} ${number}` }, null));
      response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    told: () => Array.from({ length: QUESTIONS }, (_, at) => told.get(String(at + 1)) ?? ''),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

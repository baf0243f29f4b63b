import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { noteBackupState } from '../../store/backup/backup-state.ts';
import { rowsOf } from '../../store/backup/database-copy.ts';
import type { BackupReason, Part } from '../../store/backup/facts.ts';
import { fencePath } from '../../store/backup/fence.ts';
import { backupsFolder, listBackups } from '../../store/backup/kept-backups.ts';
import { type Places, unpackBackup } from '../../store/backup/restore.ts';
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
    const end = await tryBackup(place, call);
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

async function tryBackup(place: Installation, call: VerbCall): Promise<VerbEnd> {
  const { dataDir, projectDir } = place;
  const folder = join(dataDir, 'tmp', `drill-${randomUUID().slice(0, 8)}`);
  const sockets = mkdtempSync(join(tmpdir(), 'drill-'));
  try {
    const file = await backupToTry(place, call, folder);
    const trial: Places = {
      projectDir: join(folder, 'project'),
      dataDir: join(folder, 'project/data'),
    };
    call.progress('Restoring it into a temporary folder');
    const unpacked = await unpackBackup(file, {}, trial, (part) => !WITHOUT.has(part));
    const { facts, wanted } = unpacked;
    await verifyCode(trial.projectDir, unpacked, call);
    compareRows(join(trial.dataDir, 'claw.db'), facts.rows);
    await symlink(join(projectDir, 'node_modules'), join(trial.projectDir, 'node_modules'));
    call.progress('Starting it without channels, and asking three questions');
    const asked = await ask(trial, { sockets, signal: call.signal, now: place.now() });
    const rows = Object.values(facts.rows).reduce((sum, one) => sum + one, 0);
    return {
      data: { file, createdAt: facts.createdAt, files: wanted.length, rows, asked },
      lines: [
        `The backup of ${momentWords(facts.createdAt)} works: ${wanted.length} files and ${rows} rows came back as they were, and it answered ${QUESTIONS} questions.`,
        ...(asked === 'host'
          ? ['There is no bubblewrap here, so they were commands that need no agent.']
          : []),
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(sockets, { recursive: true, force: true });
  }
}

/** Returns the newest backup that needs no key; where there is none, one is made for the drill alone. */
async function backupToTry(place: Installation, call: VerbCall, folder: string): Promise<string> {
  const all = listBackups(backupsFolder(place.dataDir));
  const newest = all.find(({ isLocked, reason }) => !isLocked && !BEFORE_CHANGE.has(reason));
  // The key of encrypted ones is not on this machine, so the newest of them is proved by another of the same state.
  if (newest !== undefined && all[0]?.isLocked !== true) return newest.file;
  call.progress('Making a backup for the drill');
  const made = await saveInstallation(place, {
    folder: join(folder, 'backup'),
    reason: 'asked',
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
): Promise<'agent' | 'host'> {
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
    return hasBubblewrap ? 'agent' : 'host';
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

/** What the trial prints, and whether it still runs. */
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

/** Answers each question with a word of this drill and the number of the question, in the protocol of OpenAI. */
async function startModel(word: string): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.once('end', () => {
      const number = [...body.matchAll(/Drill question (\d)/g)].at(-1)?.[1] ?? '0';
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
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

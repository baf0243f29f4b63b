/**
 * Measures the assistant while no message comes: `npm start` (supervisor and assistant) on a copy of this
 * tree, paired and connected with the WhatsApp server of the tests in this process. Processor time is from
 * /proc. Memory is that of both processes: the pages of each that are of no file, and those of files (Node
 * itself, above all) once. RSS counts these in each process; PSS divides them among all processes of the
 * machine that share them.
 *
 *     npx node scripts/bench/idle.ts
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LinkedChannel } from '../../src/testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../src/testing/whatsapp/server.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const COPIED = ['bin', 'container', 'packages', 'src', 'package.json', 'tsconfig.json'];

export type IdleProcess = {
  readonly name: string;
  /** Share of one core, in percent. */
  readonly cpuPercent: number;
  readonly rssMb: number;
  readonly pssMb: number;
  /** Pages that are of no file, and so of this process alone. */
  readonly anonymousMb: number;
};

export type IdleBench = {
  readonly seconds: number;
  readonly processes: readonly IdleProcess[];
  /** Of a second start, from the command until WhatsApp has taken the login. */
  readonly startMs: number;
};

/** After the login: what is loaded late is loaded, and what was for the start is given back. */
const SETTLE_MS = 15_000;
const CLOCK_TICKS = 100;

if (import.meta.main) printIdle(await benchIdle(30));

/** Prints a measurement with its goals. */
export function printIdle(found: IdleBench | null): void {
  if (found === null) {
    console.log('idle: skipped, there is no /proc here');
    return;
  }
  const { processes, seconds, startMs } = found;
  console.log(`second start until WhatsApp is connected: ${startMs.toFixed(0)} ms`);
  const sum = (pick: (it: IdleProcess) => number) =>
    processes.reduce((all, it) => all + pick(it), 0);
  const shared = Math.max(...processes.map((it) => it.rssMb - it.anonymousMb));
  const occupied = sum((it) => it.anonymousMb) + shared;
  console.log(
    `idle with WhatsApp connected, over ${seconds} s: ${sum((it) => it.cpuPercent).toFixed(2)} % of a ` +
      `core, goal 0.50 %; ${occupied.toFixed(0)} MB with shared pages counted once, goal 150 MB`,
  );
  for (const { name, cpuPercent, rssMb, pssMb } of processes) {
    const memory = `${pssMb.toFixed(0)} MB PSS, ${rssMb.toFixed(0)} MB RSS`;
    console.log(`  ${name}: ${cpuPercent.toFixed(2)} %, ${memory}`);
  }
}

/** Null where there is no /proc to read. */
export async function benchIdle(seconds: number): Promise<IdleBench | null> {
  if (!existsSync('/proc/self/smaps_rollup')) return null;
  const server = await startWhatsAppServer();
  const dir = await mkdtemp(join(tmpdir(), 'claw-idle-'));
  try {
    await layOut(dir, server);
    const linked = new LinkedChannel(server, {}, {}, join(dir, 'data'));
    await linked.pair();
    // The first start compiles what every later one finds.
    await run(dir, server, () => sleep(1_000));
    return await run(dir, server, async (pid, startMs) => {
      await sleep(SETTLE_MS);
      return { seconds, processes: await watch(pid, seconds), startMs };
    });
  } finally {
    await server.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function run<T>(
  dir: string,
  server: WhatsAppServer,
  whileIdle: (pid: number, startMs: number) => Promise<T>,
): Promise<T> {
  const loggedIn = server.login();
  const startedAt = performance.now();
  const child = start(dir);
  const closed = once(child, 'close');
  try {
    await Promise.race([loggedIn, failureOf(child, closed)]);
    return await whileIdle(child.pid ?? 0, performance.now() - startedAt);
  } finally {
    child.stdin?.end();
    await closed;
  }
}

/** A copy whose WhatsApp is the server of the tests: nothing else differs from what runs elsewhere. */
async function layOut(dir: string, { url, filesUrl }: WhatsAppServer): Promise<void> {
  for (const part of COPIED) await cp(join(REPOSITORY, part), join(dir, part), { recursive: true });
  await symlink(join(REPOSITORY, 'node_modules'), join(dir, 'node_modules'));
  await writeFile(
    join(dir, 'claw.config.yaml'),
    'exclude: [data/**, node_modules/**]\ncheck: []\n',
  );
  const path = join(dir, 'src/channels/whatsapp.ts');
  const text = await readFile(path, 'utf8');
  const patched = text.replace(/(new WhatsAppChannel\([^;]*), null\)/, '$1, FAR)');
  if (patched === text)
    throw new Error('src/channels/whatsapp.ts has another endpoint than it had');
  await writeFile(
    path,
    `${patched}
import { DELIVERY_PACE } from './whatsapp/outbound/delivery.ts';
const FAR: Endpoint = {
  socketUrl: ${JSON.stringify(url)},
  media: { url: ${JSON.stringify(filesUrl)}, limitBytes: 1_000_000 },
  pace: DELIVERY_PACE,
  fetchVersion: async () => null,
  timeScale: 1,
};
`,
  );
}

function start(dir: string): ChildProcess {
  return spawn(process.execPath, ['src/supervisor/entry.js'], {
    cwd: dir,
    env: { PATH: process.env['PATH'], HOME: dir, ANTHROPIC_API_KEY: 'sk-none', LOG_LEVEL: 'warn' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

async function failureOf(child: ChildProcess, closed: Promise<unknown>): Promise<never> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  await closed;
  throw new Error(`the assistant ended: ${said}`);
}

async function watch(pid: number, seconds: number): Promise<IdleProcess[]> {
  const pids = [pid, ...childrenOf(pid)];
  const before = new Map(pids.map((it) => [it, cpuSeconds(it)]));
  await sleep(seconds * 1_000);
  // What only the start needed, such as the bundler, may have ended meanwhile.
  return pids
    .filter((it) => existsSync(`/proc/${it}/smaps_rollup`))
    .map((it) => ({
      name: nameOf(it),
      cpuPercent: ((cpuSeconds(it) - (before.get(it) ?? 0)) / seconds) * 100,
      ...memoryOf(it),
    }));
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const own = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}

function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  const script = words.find((word) => /\.[jt]s$/.test(word)) ?? words[0] ?? '';
  return script.split('/').slice(-2).join('/');
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

function memoryOf(pid: number): Omit<IdleProcess, 'name' | 'cpuPercent'> {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mb = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
  return { rssMb: mb('Rss'), pssMb: mb('Pss'), anonymousMb: mb('Anonymous') };
}

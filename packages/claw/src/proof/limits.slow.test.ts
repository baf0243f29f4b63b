import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, type ProofLimits, parseConfig } from '../installed/config.ts';
import { findBubblewrap } from './bubblewrap.ts';
import { judge, NOTHING_WATCHED, type Watched } from './limits.ts';
import { listProcesses, parsePs } from './process-usage.ts';
import { runSandboxed } from './sandboxed.ts';
import { ENVIRONMENT, temporaryProject, WITHOUT_BUBBLEWRAP } from './testing/project.ts';
import { layOutView } from './view.ts';

const isConfined = (await findBubblewrap(ENVIRONMENT['PATH'] ?? '')) !== null;
const PLACES = [
  ...(isConfined ? [['in bubblewrap', ENVIRONMENT] as const] : []),
  ['without bubblewrap', WITHOUT_BUBBLEWRAP] as const,
];

/** Programs that want all of a machine. Each ends by itself should nothing stop it. */
const HOSTILE = [
  {
    what: 'a fork bomb',
    limits: { processes: 60 },
    limit: 'processes',
    text: 'It ran more than 60 processes and threads at once (limits.processes).',
    script: 'n=0; while [ $n -lt 400 ]; do n=$((n+1)); sleep 120 & done; wait',
  },
  {
    what: 'a fork bomb that leaves its parents',
    // Elsewhere a process that leaves the tree at once is not followed.
    needsBubblewrap: true,
    limits: { processes: 60 },
    limit: 'processes',
    text: 'It ran more than 60 processes and threads at once (limits.processes).',
    script: 'n=0; while [ $n -lt 400 ]; do n=$((n+1)); (setsid sleep 121 &); done; sleep 122',
  },
  {
    what: 'a program that takes 10 GB of memory',
    limits: { memory_mb: 300 },
    limit: 'memory',
    text: 'It used more than 300 MB of memory (limits.memory_mb).',
    script: `node -e "const all = []; const t = setInterval(() => all.length < 400 ? all.push(Buffer.alloc(25_000_000, 1)) : clearInterval(t), 20)"`,
  },
  {
    what: 'processes that take memory together',
    limits: { memory_mb: 300 },
    limit: 'memory',
    text: 'It used more than 300 MB of memory (limits.memory_mb).',
    script:
      'for i in 1 2 3 4 5 6; do node -e "const b = Buffer.alloc(80_000_000, 1); setTimeout(() => b, 120_000)" & done; wait',
  },
  {
    what: 'a program that fills the disk with one file',
    limits: { disk_mb: 30 },
    limit: 'disk',
    text: 'It wrote more than 30 MB (limits.disk_mb).',
    script: 'head -c 500000000 /dev/zero > big',
  },
  {
    what: 'a program that fills the disk with many files',
    limits: { disk_mb: 30 },
    limit: 'disk',
    text: 'It wrote more than 30 MB (limits.disk_mb).',
    script:
      'n=0; while [ $n -lt 300 ]; do n=$((n+1)); mkdir -p d$n; head -c 1000000 /dev/zero > d$n/file; done; sleep 120',
  },
  {
    what: 'a loop without an end',
    limits: { cpu_seconds: 1 },
    limit: 'cpu',
    text: 'It used more than 1 s of CPU time without an end (limits.cpu_seconds).',
    script: 'while :; do :; done',
  },
  {
    what: 'a loop without an end that talks',
    limits: { cpu_seconds: 1 },
    limit: 'cpu',
    text: 'It used more than 1 s of CPU time without an end (limits.cpu_seconds).',
    script: 'while :; do echo still here; done',
  },
  {
    what: 'a program that waits for ever',
    limits: { silence_seconds: 1 },
    limit: 'silence',
    text: 'It printed nothing and did nothing for 1 s (limits.silence_seconds).',
    script: 'sleep 600',
  },
  {
    what: 'a program that waits for ever and ticks',
    limits: { silence_seconds: 2 },
    limit: 'silence',
    text: 'It printed nothing and did nothing for 2 s (limits.silence_seconds).',
    script: `exec node -e "setInterval(() => {}, 1000)"`,
  },
] as const;

async function runScript(
  script: string,
  limits: Partial<ProofLimits>,
  environment: typeof ENVIRONMENT,
) {
  using project = temporaryProject({ 'package.json': '{}' });
  const { root } = project;
  const view = layOutView(root, { paths: ['package.json'], changed: new Map(), tests: [] });
  const command = { file: 'sh', args: ['-c', script] };
  try {
    return await runSandboxed(view.path, command, {
      root,
      nodeModules: null,
      environment,
      limits: { ...DEFAULT_LIMITS, ...limits },
      viewBytes: view.sizeBytes,
    });
  } finally {
    view.remove();
  }
}

for (const [where, environment] of PLACES) {
  for (const { what, limits, limit, text, script, ...rest } of HOSTILE) {
    if ('needsBubblewrap' in rest && environment === WITHOUT_BUBBLEWRAP) continue;
    test(`${what} is stopped and told of by its limit, ${where}`, async () => {
      const run = await runScript(script, limits, environment);
      expect(run).toMatchObject({ isOk: false, stop: { limit, text } });
      expect(run.output).toContain(`Stopped. ${text}`);
      // Nothing of it is left.
      const sleeps = await leftOver('sleep 12[0-2]');
      expect(sleeps).toEqual([]);
    });
  }

  test(`a command that is only slow ends by itself, ${where}`, async () => {
    const prints = 'for i in 1 2 3 4 5 6; do sleep 0.5; echo $i; done';
    const run = await runScript(prints, { silence_seconds: 2, processes: 60 }, environment);
    expect(run).toMatchObject({ isOk: true, stop: null });
  });
}

test.runIf(isConfined)('scratch space in memory counts as written, and is told of', async () => {
  for (const place of ['/tmp', '/dev/shm']) {
    const script = `for i in 1 2 3 4 5 6 7 8 9; do head -c 10000000 /dev/zero > ${place}/f$i; sleep 0.1; done; sleep 120`;
    const run = await runScript(script, { disk_mb: 30 }, ENVIRONMENT);
    expect(run.stop).toMatchObject({ limit: 'disk' });
  }
});

test.runIf(isConfined && process.getuid?.() === 0)(
  'a user without rights has the same limits',
  () => {
    const folder = fs.mkdtempSync('/var/tmp/claw-limits-');
    try {
      fs.chmodSync(folder, 0o755);
      // As the sandbox calls it: the number of processes in a namespace of users of its own.
      const script =
        'for o in u p; do (ulimit -$o 40) 2>/dev/null && ulimit -$o 40 && break; done; ' +
        'n=0; while [ $n -lt 80 ]; do n=$((n+1)); sleep 30 & done; echo all of them';
      const bwrap = ['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/', '/'];
      const inside = [...bwrap, '--proc', '/proc', '--dev', '/dev', '--', 'sh', '-c', script];
      const args = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--', ...inside];
      expect(() => execFileSync('setpriv', args, { cwd: folder, stdio: 'pipe' })).toThrow(/fork/);
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  },
);

async function leftOver(pattern: string): Promise<readonly string[]> {
  const all = async () => {
    const names = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return names.map(commandLine).filter((line) => new RegExp(`^${pattern}$`).test(line));
  };
  // A process that was killed is seen until the system has put it away.
  for (let look = 0; look < 400; look += 1) {
    if ((await all()).length === 0) return [];
    await new Promise((done) => setTimeout(done, 25));
  }
  return await all();
}

function commandLine(pid: string): string {
  try {
    return fs
      .readFileSync(join('/proc', pid, 'cmdline'), 'utf8')
      .replaceAll('\0', ' ')
      .trim();
  } catch {
    return ''; // It has ended since.
  }
}

const IDLE = { cpuMs: 0, memoryBytes: 0, tasks: 1, isRunnable: false };
const LOOK = {
  passedMs: 1000,
  hasPrinted: false,
  usage: IDLE,
  writtenBytes: 0,
  mayWriteBytes: Number.POSITIVE_INFINITY,
};
type Look = typeof LOOK;

/** Returns the number of looks after which a command is stopped, and the limit. */
function looksUntilStop(look: (at: number) => Look, limits: Partial<ProofLimits>, parts = 1) {
  let watched: Watched = NOTHING_WATCHED;
  for (let at = 1; at <= 100_000; at += 1) {
    const judged = judge(watched, look(at), { ...DEFAULT_LIMITS, ...limits }, parts);
    if (judged.stop !== null) return { at, limit: judged.stop.limit };
    watched = judged.watched;
  }
  return null;
}

test('a command that gets no turn on a busy machine is not silent', () => {
  const starved = { ...LOOK, usage: { ...IDLE, isRunnable: true } };
  expect(looksUntilStop(() => starved, { silence_seconds: 10 })).toBeNull();
  expect(looksUntilStop(() => LOOK, { silence_seconds: 10 })).toEqual({ at: 10, limit: 'silence' });
});

test('output and CPU time each end a silence, a timer that ticks does not', () => {
  const limits = { silence_seconds: 10, cpu_seconds: 80_000 };
  const prints = (at: number) => ({ ...LOOK, hasPrinted: at % 9 === 0 });
  expect(looksUntilStop(prints, limits)).toBeNull();
  const uses = (perLook: number) => (at: number) => ({
    ...LOOK,
    usage: { ...IDLE, cpuMs: at * perLook },
  });
  expect(looksUntilStop(uses(15), limits)).toBeNull();
  expect(looksUntilStop(uses(1), limits)).toMatchObject({ limit: 'silence' });
});

test('a hang among the tests of many skills is found after the CPU time of one', () => {
  const usage = (at: number) => ({ ...IDLE, cpuMs: at * 1000 });
  const speaks = (at: number) => ({ ...LOOK, usage: usage(at), hasPrinted: at < 100 });
  const limits = { cpu_seconds: 50 };
  expect(looksUntilStop(speaks, limits, 32)).toEqual({ at: 150, limit: 'cpu' });
  const always = (at: number) => ({ ...LOOK, usage: usage(at), hasPrinted: true });
  expect(looksUntilStop(always, limits, 4)).toEqual({ at: 201, limit: 'cpu' });
});

test('on a nearly full disk a command may write less than its limit', () => {
  const look = { ...LOOK, writtenBytes: 20 * 2 ** 20, mayWriteBytes: 12.5 * 2 ** 20 };
  const { stop } = judge(NOTHING_WATCHED, look, DEFAULT_LIMITS, 1);
  expect(stop?.text).toBe('It wrote more than 12 MB, all that this machine can spare for it.');
});

test('the list of processes of a Mac or a BSD is read as well', async () => {
  const text = '    1     0 Ss     4096   1:02.50\n  201     1 R+    20480 1-02:03:04\n  no line\n';
  expect(parsePs(text)).toEqual([
    { pid: 1, parent: 0, cpuMs: 62_500, tasks: 1, isRunnable: false, memoryBytes: 4_194_304 },
    { pid: 201, parent: 1, cpuMs: 93_784_000, tasks: 1, isRunnable: true, memoryBytes: 20_971_520 },
  ]);
  const own = (await listProcesses()).find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid });
  expect(own?.cpuMs).toBeGreaterThan(0);
  expect(own?.memoryBytes).toBeGreaterThan(10_000_000);
  expect(own?.tasks).toBeGreaterThan(1);
});

test('limits are settings, and a wrong one is refused with its place', () => {
  expect(parseConfig(null).limits).toEqual(DEFAULT_LIMITS);
  const { limits } = parseConfig('limits: { silence_seconds: 300, memory_mb: 512 }');
  expect(limits).toEqual({ ...DEFAULT_LIMITS, silence_seconds: 300, memory_mb: 512 });
  for (const wrong of ['silence_seconds: 0', 'memory_mb: 12', 'cpu_seconds: 1.5', 'cpu: 4']) {
    expect(() => parseConfig(`limits: { ${wrong} }`)).toThrow(/claw\.config\.yaml:limits/);
  }
});

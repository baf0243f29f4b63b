import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { enrol } from '../lib/far/enrol.ts';
import { FarRefused, FarState } from '../lib/far/far-state.ts';
import { joinCode } from '../lib/far/join-code.ts';
import { readWorkerConfig, writeWorkerConfig } from '../lib/far/worker-folder.ts';
import { defineVerb, type VerbCall, type VerbContext, type VerbEnd, VerbError } from '../verb.ts';

const PORT = 4_722;
const SAID_IN_CHAT = ['add', 'list', 'drain', 'undrain', 'remove'];

/** Lets chats run on other machines: on the home, and on the machine that joins. */
export const verb = defineVerb({
  name: 'far',
  help: 'let chats run on your other computers',
  usage: {
    argument: '[words...]',
    help: 'here: setup <address>, add <name>, list, drain <name>, undrain <name>, remove <name>; on the other machine: join <code>, run, prove',
  },
  options: [
    { flags: '--port <n>', help: `setup: the port that other machines dial (default: ${PORT})` },
    { flags: '--has <words>', help: 'join: what this machine has, such as gpu,ffmpeg' },
    { flags: '--slots <n>', help: 'join: chats that run here at once; prove: proofs (default: 2)' },
    { flags: '--no-run', help: 'join: only join; `claw far run` starts the worker' },
  ],
  create: (context) => (call) =>
    run(context, call).catch((error: unknown) => {
      if (error instanceof FarRefused) throw new VerbError('failed', error.message);
      throw error;
    }),
});

async function run(context: VerbContext, call: VerbCall): Promise<VerbEnd> {
  const [word = 'list', ...rest] = call.words;
  if (word === 'setup') return await setUp(context, call, rest[0]);
  if (word === 'join') return await joinHome(context, call, rest[0]);
  if (word === 'run') return await runWorker(context, call, 'sandbox/machines/far/worker-main.ts');
  if (word === 'prove') {
    const slots = numberOption(call, 'slots', 2, 1_000);
    return await runWorker(context, call, 'proof-runners/far/prove-main.ts', String(slots));
  }
  if (!SAID_IN_CHAT.includes(word)) {
    throw new VerbError(
      'usage',
      'Say setup, add, list, drain, undrain, remove, join, run or prove: `npx claw far add nas`.',
    );
  }
  if (!(await call.isAssistantRunning())) {
    throw new VerbError('stopped', 'The assistant does not run. Start it with `npm start` first.');
  }
  const answers = await call.say(['/far', word, ...rest].join(' '));
  return { data: { answers } };
}

async function setUp(
  { dataDir }: VerbContext,
  call: VerbCall,
  host: string | undefined,
): Promise<VerbEnd> {
  if (host === undefined || !/^[A-Za-z0-9.:-]{1,253}$/.test(host)) {
    throw new VerbError(
      'usage',
      'Say the address under which your other machines reach this one: `npx claw far setup 192.168.1.10`.',
    );
  }
  const port = numberOption(call, 'port', PORT, 65_535);
  const state = new FarState(dataDir);
  await state.setUp(host, port);
  return {
    data: { host, port },
    lines: [
      `Other machines can reach this one at ${host}:${port}, once the assistant runs.`,
      'nats-server must be installed here (Debian: `sudo apt install nats-server`).',
      'Next: restart the assistant (`npx claw chat /restart`), then `npx claw far add nas`.',
    ],
  };
}

async function joinHome(
  context: VerbContext,
  call: VerbCall,
  text: string | undefined,
): Promise<VerbEnd> {
  const code = joinCode.read(text ?? '');
  if (code === null) {
    throw new VerbError('usage', 'That is no code. `npx claw far add nas` at home prints one.');
  }
  const before = readWorkerConfig(context.dataDir);
  if (before !== null)
    call.progress(`this machine leaves ${before.host}, where it is ${before.name}`);
  const capacity = numberOption(call, 'slots', 2, 1_000);
  const abilities = String(call.options['has'] ?? '')
    .split(/[\s,]+/)
    .filter((one) => one !== '');
  const seed = await enrol(code);
  const { name, host, port, certificate } = code;
  writeWorkerConfig(context.dataDir, {
    ...{ name, host, port, certificate, seed, abilities, capacity },
    patienceMinutes: 60,
  });
  if (call.options['run'] === false) {
    return { data: { name }, lines: [`This machine is ${name} now. Start it: npx claw far run`] };
  }
  call.progress(
    `this machine is ${name} now; Ctrl-C ends it, \`npx claw far run\` starts it again`,
  );
  return await runWorker(context, call, 'sandbox/machines/far/worker-main.ts');
}

/** Runs a worker, by its program below `src/`, until it is stopped. */
async function runWorker(
  { projectDir, dataDir }: VerbContext,
  call: VerbCall,
  program: string,
  ...args: readonly string[]
): Promise<VerbEnd> {
  const main = join(projectDir, 'src', program);
  const child = spawn(process.execPath, [main, dataDir, ...args], { stdio: 'inherit' });
  const stop = () => void child.kill('SIGTERM');
  call.signal.addEventListener('abort', stop, { once: true });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (exitCode !== 0 && !call.signal.aborted) {
    throw new VerbError('failed', 'The worker ended; the lines above say why.');
  }
  return { data: { ended: true } };
}

function numberOption(call: VerbCall, name: string, usual: number, most: number): number {
  const given = call.options[name];
  if (given === undefined) return usual;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new VerbError('usage', `--${name} must be a whole number from 1 to ${most}.`);
  }
  return value;
}

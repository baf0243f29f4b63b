import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FarRefused, FarState, MachineName } from '../lib/far/far-state.ts';
import { abilitiesOf, joinHome } from '../lib/far/joining.ts';
import { checkImage, NATS_IMAGE } from '../lib/far/nats-container.ts';
import { checkServer, NO_JETSTREAM } from '../lib/far/server-check.ts';
import { setUpBySsh } from '../lib/far/ssh-machine.ts';
import { makeWorkerPackage } from '../lib/far/worker-package.ts';
import { installWorkerUnit, workerUnit } from '../lib/far/worker-unit.ts';
import { printable } from '../supervisor/console/printable.ts';
import { defineVerb, type VerbCall, type VerbContext, type VerbEnd, VerbError } from '../verb.ts';

const PORT = 4_722;
const CHECKS = 5;
const CHECK_PAUSE_MS = 500;
const SAID_IN_CHAT = ['add', 'list', 'drain', 'undrain', 'remove', 'sandbox'];

/** Lets chats run on other machines: on the home, and on the machine that joins. */
export const verb = defineVerb({
  name: 'far',
  help: 'let chats run on your other computers',
  usage: {
    argument: '[action...]',
    help: 'here: setup <address>, add <name>, list, drain <name>, undrain <name>, remove <name>, sandbox <name> <engine>, pack [file]; on the other machine: join <code>, run, sandbox <engine>, service, prove',
  },
  options: [
    { flags: '--port <n>', help: `setup: the port that other machines dial (default: ${PORT})` },
    {
      flags: '--docker [image]',
      help: `setup: run the server in Docker (image: ${NATS_IMAGE}), where nats-server is not installed`,
    },
    {
      flags: '--apply <command>',
      help: 'setup: use your own NATS server at this address; the shell command gives it the file "$1" and reloads it',
    },
    {
      flags: '--ca <file>',
      help: 'setup with --apply: its certificate, or of who signed it, in PEM',
    },
    {
      flags: '--ssh <destination>',
      help: 'add: log in to the machine, such as me@nas, and set it up; again: send it a newer worker',
    },
    { flags: '--has <words>', help: 'join, add --ssh: what the machine has, such as gpu,ffmpeg' },
    {
      flags: '--slots <n>',
      help: 'join, add --ssh: chats that run there at once; prove: proofs (default: 2)',
    },
    { flags: '--no-run', help: 'join: only join; `claw far run` starts the worker' },
    { flags: '--system', help: 'service: for the whole machine, as root' },
    { flags: '--print', help: 'service: only print the file' },
  ],
  create: (context) => (call) =>
    run(context, call).catch((error: unknown) => {
      if (error instanceof FarRefused) throw new VerbError('failed', printable(error.message));
      throw error;
    }),
});

async function run(context: VerbContext, call: VerbCall): Promise<VerbEnd> {
  const [word = 'list', ...rest] = call.words;
  if (word === 'setup') return await setUp(context, call, rest[0]);
  if (word === 'join') return await join(context, call, rest[0]);
  if (word === 'run') return await runWorker(context, call);
  if (word === 'service') return service(context, call);
  // With a machine's name it is for the home, which is asked in the chat.
  if (word === 'sandbox' && rest.length === 1) {
    return await runProgram(context, call, mainOf(context.projectDir), [word, ...rest]);
  }
  if (word === 'pack') return await pack(context, rest[0]);
  if (word === 'prove') {
    const slots = numberOption(call, 'slots', 2, 1_000);
    const main = resolve(context.projectDir, 'src/proof-runners/far/prove-main.ts');
    return await runProgram(context, call, main, [context.dataDir, String(slots)]);
  }
  if (!SAID_IN_CHAT.includes(word)) {
    throw new VerbError(
      'usage',
      'Say setup, add, list, drain, undrain, remove, sandbox, pack, join, run, service or prove: `npx claw far add nas`.',
    );
  }
  if (!(await call.isAssistantRunning())) {
    throw new VerbError('stopped', 'The assistant does not run. Start it with `npm start` first.');
  }
  if (call.options['ssh'] !== undefined) {
    if (word !== 'add') throw new VerbError('usage', 'Say `--ssh` together with `add` only.');
    return await addBySsh(context, call, rest[0]);
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
  const { apply, ca, docker } = call.options;
  if (apply !== undefined && docker !== undefined) {
    throw new VerbError(
      'usage',
      'Say either `--docker` or `--apply`: with the second, the server is yours.',
    );
  }
  if (typeof apply === 'string') {
    const authority = typeof ca === 'string' ? textOf(ca) : '';
    state.setUpOwnServer({ host, port, authority, apply });
    return await useOwnServer(state);
  }
  if (ca !== undefined) throw new VerbError('usage', 'Say `--ca` together with `--apply` only.');
  const image = docker === undefined ? null : typeof docker === 'string' ? docker : NATS_IMAGE;
  if (image !== null) call.progress(`looks for ${image}, which Docker fetches if it is not here`);
  const version = image === null ? null : await checkImage(image);
  await state.setUp(host, port, image);
  return {
    data: { host, port, image },
    lines: [
      `Other machines can reach this one at ${host}:${port}, once the assistant runs.`,
      version === null
        ? 'nats-server must be installed here (Debian: `sudo apt install nats-server`), or add `--docker` to this command.'
        : `Docker runs the server from ${image} (${version}).`,
      'Next: restart the assistant (`npx claw chat /restart`), then `npx claw far add nas`.',
    ],
  };
}

/** Tells the owner's server of this home, and whether that was enough. */
async function useOwnServer(state: FarState): Promise<VerbEnd> {
  const { host, port } = state.read();
  const problem = await state.apply();
  if (problem !== null) throw new VerbError('failed', `The command of --apply failed: ${problem}`);
  let check = await checkServer(state);
  // A server that was signalled reads its settings a moment later.
  for (let attempt = 1; check.kind === 'unusable' && attempt < CHECKS; attempt += 1) {
    await sleep(CHECK_PAUSE_MS);
    check = await checkServer(state);
  }
  if (check.kind === 'unusable') {
    throw new VerbError(
      'failed',
      `${host}:${port} cannot be used: ${check.problem}. ${check.advice} The file is ${state.configPath}; in the settings of the server: accounts { PATCHCLAW { include "account.conf" } }. Then run this command again.`,
    );
  }
  return {
    data: { host, port, version: check.version, hasJetStream: check.hasJetStream },
    lines: [
      `nats-server ${check.version} at ${host}:${port} lets this home in.`,
      ...(check.hasJetStream ? [] : [NO_JETSTREAM]),
      'Next: restart the assistant (`npx claw chat /restart`), then `npx claw far add nas`.',
    ],
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new VerbError('usage', `The file of --ca cannot be read: ${(error as Error).message}`);
  }
}

/** Sets a machine up from here. The key stays there, and the home takes its public half: no code is made. */
async function addBySsh(
  { projectDir, dataDir }: VerbContext,
  call: VerbCall,
  name: string | undefined,
): Promise<VerbEnd> {
  const target = String(call.options['ssh']);
  const has = call.options['has'];
  const slots = call.options['slots'] === undefined ? null : numberOption(call, 'slots', 2, 1_000);
  if (name === undefined || !MachineName.safeParse(name).success) {
    throw new VerbError(
      'usage',
      'Say a name of up to 31 small letters, digits and hyphens: `npx claw far add nas --ssh me@nas`.',
    );
  }
  const state = new FarState(dataDir);
  const { host, port } = state.read();
  const abilities = has === undefined ? null : abilitiesOf(String(has));
  const request = { name, host, port, certificate: state.certificate(), abilities, slots };
  call.progress('packs the worker');
  const program = await packedWorker(projectDir);
  call.progress(`logs in to ${target} by ssh`);
  const notes = await setUpBySsh({
    ...{ target, request, program, signal: call.signal },
    onProgress: (text) => call.progress(printable(text)),
    async admit(key, other) {
      const namesOfIt = () =>
        state.read().machines.flatMap((one) => (one.key === key ? one.name : []));
      if (namesOfIt().includes(name)) return;
      if (other !== null && namesOfIt().length === 0) {
        throw new FarRefused(
          `That machine is one of ${other}. To move it here, remove it there, and delete worker.json in the folder far-worker of its worker.`,
        );
      }
      const answers = await call.say(`/far add ${name} ${key}`);
      if (!namesOfIt().includes(name))
        throw new FarRefused(answers.join(' ') || `${name} was not taken.`);
    },
  });
  return {
    data: { name, notes },
    lines: [
      `${name} is set up. \`/far\` says when it is here; then let a chat run there: \`/far family on ${name}\`.`,
      ...notes.map(printable),
    ],
  };
}

async function packedWorker(projectDir: string): Promise<Buffer> {
  const dir = mkdtempSync(resolve(tmpdir(), 'claw-far-pack-'));
  try {
    const file = resolve(dir, 'patchclaw-worker.tgz');
    await makeWorkerPackage(projectDir, file);
    return readFileSync(file);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function join(context: VerbContext, call: VerbCall, code = ''): Promise<VerbEnd> {
  const slots = numberOption(call, 'slots', 2, 1_000);
  const has = String(call.options['has'] ?? '');
  const { name, before } = await joinHome(context.dataDir, { code, has, slots });
  if (before !== null) call.progress(`this machine has left ${before}`);
  if (call.options['run'] === false) {
    return { data: { name }, lines: [`This machine is ${name} now. Start it: npx claw far run`] };
  }
  call.progress(
    `this machine is ${name} now; Ctrl-C ends it, \`npx claw far run\` starts it again`,
  );
  return await runWorker(context, call);
}

function runWorker(context: VerbContext, call: VerbCall): Promise<VerbEnd> {
  return runProgram(context, call, mainOf(context.projectDir), ['run']);
}

/** Runs a worker, by its program and its words, until it is stopped. */
async function runProgram(
  { dataDir }: VerbContext,
  call: VerbCall,
  main: string,
  words: readonly string[],
): Promise<VerbEnd> {
  const child = spawn(process.execPath, [main, ...words], {
    stdio: 'inherit',
    env: { ...process.env, PATCHCLAW_WORKER_DIR: dataDir },
  });
  const stop = () => void child.kill('SIGTERM');
  call.signal.addEventListener('abort', stop, { once: true });
  const exitCode = await new Promise<number | null>((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', resolveCode);
  });
  if (exitCode !== 0 && !call.signal.aborted) {
    throw new VerbError('failed', 'The worker ended; the lines above say why.');
  }
  return { data: { ended: true } };
}

/** Lets systemd run the worker. */
function service({ projectDir }: VerbContext, { options }: VerbCall): VerbEnd {
  const parts = {
    node: process.execPath,
    command: [mainOf(projectDir), 'run'],
    searchPath: process.env['PATH'] ?? '',
    isSystem: options['system'] === true,
    environment: process.env,
  };
  if (options['print'] === true) {
    const text = workerUnit(parts);
    return { data: { text }, lines: [text] };
  }
  const lines = installWorkerUnit(parts);
  return { data: { lines }, lines };
}

/** Writes a package that joins machines without a checkout. */
async function pack({ projectDir }: VerbContext, file = 'patchclaw-worker.tgz'): Promise<VerbEnd> {
  const path = resolve(file);
  await makeWorkerPackage(projectDir, path);
  return {
    data: { path },
    lines: [
      `${path} is all that another machine needs, beside Node 22 and Docker, podman or bubblewrap.`,
      'Copy it there, then: npx --yes -p "$PWD/patchclaw-worker.tgz" patchclaw-worker join CODE',
    ],
  };
}

const mainOf = (projectDir: string) =>
  resolve(projectDir, 'src/sandbox/machines/far/worker-main.ts');

function numberOption(call: VerbCall, name: string, usual: number, most: number): number {
  const given = call.options[name];
  if (given === undefined) return usual;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new VerbError('usage', `--${name} must be a whole number from 1 to ${most}.`);
  }
  return value;
}

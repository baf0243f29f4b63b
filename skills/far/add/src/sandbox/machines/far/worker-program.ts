import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readWhatFits } from '../../../config.ts';
import { whyUnreachable } from '../../../lib/far/far-connection.ts';
import { FarRefused } from '../../../lib/far/far-state.ts';
import { joinHome } from '../../../lib/far/joining.ts';
import {
  readWorkerConfig,
  type WorkerConfig,
  workerFolder,
} from '../../../lib/far/worker-folder.ts';
import { installWorkerUnit, workerUnit } from '../../../lib/far/worker-unit.ts';
import { type Engine, type EngineContribution, EngineUnusable } from '../../engines/engine.ts';
import { agentUser } from '../../mounts/ownership.ts';
import { findersOf, ownUser } from '../../open.ts';
import { downText, runFarWorker } from './far-worker.ts';

const USAGE = `patchclaw-worker: runs chats of another machine

  join CODE [--has gpu,ffmpeg] [--slots 2] [--no-run]   become one of a home's machines, and run
  run                                                   run until it is stopped
  doctor                                                say whether home lets this machine in, and what runs agents here
  service [--system] [--print]                          let systemd run it always
`;

/**
 * The program on the other machine, in a tree and as a package of its own.
 *
 * @param given the data folder; null for the usual one of a machine without a tree
 */
export async function runWorkerProgram(
  engines: readonly EngineContribution[],
  projectDir: string,
  given: string | null,
): Promise<void> {
  const dataDir = given ?? join(homedir(), '.local/share/patchclaw-worker');
  try {
    await carryOut(engines, projectDir, dataDir);
  } catch (error) {
    if (!(error instanceof FarRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function carryOut(
  engines: readonly EngineContribution[],
  projectDir: string,
  dataDir: string,
): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      has: { type: 'string', default: '' },
      slots: { type: 'string', default: '2' },
      run: { type: 'boolean', default: true },
      system: { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
    },
  });
  const [word = '', code = ''] = positionals;
  if (word === 'join') {
    const slots = Number(values.slots);
    if (!Number.isInteger(slots) || slots < 1 || slots > 1_000) {
      throw new FarRefused('--slots must be a whole number from 1 to 1000.');
    }
    const { name, before } = await joinHome(dataDir, { code, has: values.has, slots });
    if (before !== null) say(`This machine has left ${before}.`);
    say(`This machine is ${name} now.`);
    if (values.run) await runUntilStopped(engines, projectDir, dataDir);
  } else if (word === 'doctor') await examine(engines, projectDir, dataDir);
  else if (word === 'run') await runUntilStopped(engines, projectDir, dataDir);
  else if (word === 'service') {
    const parts = {
      node: process.execPath,
      command: [process.argv[1] ?? '', 'run'],
      searchPath: process.env['PATH'] ?? '',
      isSystem: values.system,
      environment: process.env,
    };
    if (/\/_npx\//.test(process.argv[1] ?? '')) {
      throw new FarRefused(
        'npx keeps this program for a while only. Run `npm install --global ./patchclaw-worker.tgz` first, then `patchclaw-worker service`.',
      );
    }
    for (const line of values.print ? [workerUnit(parts)] : installWorkerUnit(parts)) say(line);
  } else if (word === 'prove') {
    throw new FarRefused(
      'Proofs need a checkout of the project with the skill `far`: `npx claw far join CODE --no-run` and `npx claw far prove` there. This package runs chats only.',
    );
  } else {
    process.stderr.write(USAGE);
    process.exit(2);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function runUntilStopped(
  engines: readonly EngineContribution[],
  projectDir: string,
  dataDir: string,
): Promise<void> {
  const config = joined(dataDir);
  const dir = workerFolder(dataDir);
  const worker = await runFarWorker({
    config,
    engine: await openEngine(engines, { projectDir, dir }),
    dir,
    user: agentUser(ownUser()),
    onProgress: say,
  });
  const stop = async (): Promise<void> => {
    await worker.stop();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const reason = await worker.refused;
  process.stderr.write(`The home does not let this machine in any more (${reason}).\n`);
  await worker.stop();
  process.exit(1);
}

/** Says what a tree's `claw doctor` says of a worker. */
async function examine(
  engines: readonly EngineContribution[],
  projectDir: string,
  dataDir: string,
): Promise<void> {
  const config = joined(dataDir);
  const { name, host, port } = config;
  const problem = await whyUnreachable(config);
  say(
    problem === null
      ? `✓ home: ${host}:${port} lets this machine in, as ${name}`
      : `✗ home: ${downText(config, problem)}`,
  );
  let isUsable = false;
  for (const { name: engine, find } of findersOf(
    engines,
    finderOptions(projectDir, workerFolder(dataDir)),
  )) {
    try {
      say(`${isUsable ? '-' : '✓'} engine: ${(await find().look()).description}`);
      isUsable = true;
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      say(`- engine: ${engine}: ${error.message}`);
    }
  }
  if (!isUsable) say('✗ engine: none can run agents here; install Docker, podman or bubblewrap');
  if (problem !== null || !isUsable) process.exit(1);
}

function joined(dataDir: string): WorkerConfig {
  const config = readWorkerConfig(dataDir);
  if (config !== null) return config;
  throw new FarRefused(
    'This machine has not joined: join it with a code first. `npx claw far add nas` at home prints one.',
  );
}

function finderOptions(projectDir: string, dir: string) {
  const { settings } = readWhatFits(process.env, projectDir);
  return {
    projectDir,
    settings: { ...settings, dataDir: dir },
    homeDir: homedir(),
    environment: process.env,
    onProgress: say,
  };
}

/** The best engine of this machine; its containers are told apart from those of an assistant here. */
async function openEngine(
  engines: readonly EngineContribution[],
  { projectDir, dir }: { projectDir: string; dir: string },
): Promise<Engine> {
  const reasons: string[] = [];
  for (const { name, find } of findersOf(engines, finderOptions(projectDir, dir))) {
    try {
      const engine = await find().open();
      if (reasons.length > 0) say(`agents run under ${name}: ${reasons.join('; ')}`);
      return engine;
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  throw new FarRefused(`No engine can run containers here: ${reasons.join('; ')}`);
}

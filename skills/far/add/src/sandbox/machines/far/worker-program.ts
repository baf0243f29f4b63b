import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readWhatFits } from '../../../config.ts';
import { whyUnreachable } from '../../../lib/far/far-connection.ts';
import { FarRefused } from '../../../lib/far/far-state.ts';
import { joinHome } from '../../../lib/far/joining.ts';
import {
  readWorkerConfig,
  type WorkerConfig,
  workerEngines,
  workerFolder,
} from '../../../lib/far/worker-folder.ts';
import { installWorkerUnit, workerUnit } from '../../../lib/far/worker-unit.ts';
import {
  type Engine,
  type EngineContribution,
  EngineUnusable,
  isWeaker,
} from '../../engines/engine.ts';
import { agentUser } from '../../mounts/ownership.ts';
import { findersOf, ownUser } from '../../open.ts';
import { downText, runFarWorker, type WaitingForWord, waitForWord } from './far-worker.ts';
import { setUpBySshHere } from './ssh-setup.ts';

/** A better engine that comes back, or the owner's word, is seen so soon. */
const LOOK_AGAIN_MS = 5_000;

const USAGE = `patchclaw-worker: runs chats of another machine

  join CODE [--has gpu,ffmpeg] [--slots 2] [--no-run]   become one of a home's machines, and run
  run                                                   run until it is stopped
  doctor                                                say whether home lets this machine in, and what runs agents here
  sandbox bubblewrap                                    let agents run in it where the better engine is gone
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
  else if (word === 'ssh-setup') {
    await setUpBySshHere({
      dataDir,
      programDir: projectDir,
      lookForEngine: () => lookForEngine(engines, finderOptions(projectDir, workerFolder(dataDir))),
    });
  } else if (word === 'sandbox') letUse(engines, dataDir, code);
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
  const engine = await allowedEngine(engines, { projectDir, dataDir, config });
  const worker = await runFarWorker({
    config,
    engine,
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

/** Says what would run agents here, and why nothing better does. @throws FarRefused where nothing does */
async function lookForEngine(
  engines: readonly EngineContribution[],
  options: ReturnType<typeof finderOptions>,
): Promise<string> {
  const reasons: string[] = [];
  for (const { name, find } of findersOf(engines, options)) {
    try {
      const { description } = await find().look();
      return [`agents will run in ${description}`, ...reasons].join('; ');
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  throw new FarRefused(
    `Nothing there can run agents. Install Docker, podman or bubblewrap (Debian: \`sudo apt install docker.io\`), and run this command again. Found: ${reasons.join('; ')}`,
  );
}

/** The owner's word at this machine; a worker that waits for it hears it within seconds. */
function letUse(engines: readonly EngineContribution[], dataDir: string, name: string): void {
  if (!engines.some((one) => one.name === name)) {
    throw new FarRefused(`Say one of ${engines.map((one) => one.name).join(', ')}.`);
  }
  workerEngines(dataDir).accept(name);
  say(`Agents may run in ${name} here, and in what is better.`);
}

/** The best engine of this machine; one that is weaker than before waits for the owner's word, or for the better one. */
async function allowedEngine(
  engines: readonly EngineContribution[],
  place: { readonly projectDir: string; readonly dataDir: string; readonly config: WorkerConfig },
): Promise<Engine> {
  const { projectDir, dataDir, config } = place;
  const own = workerEngines(dataDir);
  const options = finderOptions(projectDir, workerFolder(dataDir));
  let waiting: Awaited<ReturnType<typeof waitForWord>> | null = null;
  for (;;) {
    const found = await openEngine(engines, options, own.least());
    if (found.kind === 'opened') {
      await waiting?.close();
      own.note(found.engine.name);
      return found.engine;
    }
    if (waiting === null) {
      const { engine, reason } = found;
      say(
        `Agents ran in a stronger sandbox before (${reason}), so none runs now. Start that again; or let them run in ${engine}: say \`/far sandbox ${config.name} ${engine}\` at home, or run \`sandbox ${engine}\` with this program.`,
      );
      waiting = await waitForWord(
        config,
        { engine, reason: reason.slice(0, 300) },
        {
          onWord: (name) => {
            if (name === engine) own.accept(name);
          },
          onRefused(why) {
            process.stderr.write(`The home does not let this machine in any more (${why}).\n`);
            process.exit(1);
          },
          onProgress: say,
        },
      );
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Opens the best engine of this machine; its containers are told apart from those of an assistant here. */
async function openEngine(
  engines: readonly EngineContribution[],
  options: ReturnType<typeof finderOptions>,
  least: string | null,
): Promise<
  | { readonly kind: 'opened'; readonly engine: Engine }
  | ({ readonly kind: 'waits' } & WaitingForWord)
> {
  const reasons: string[] = [];
  for (const { name, find } of findersOf(engines, options)) {
    try {
      const engine = await find().open();
      const reason = reasons.join('; ');
      if (options.settings.sandbox === null && isWeaker(engines, name, least)) {
        return { kind: 'waits', engine: name, reason };
      }
      if (reason !== '') say(`agents run under ${name}: ${reason}`);
      return { kind: 'opened', engine };
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  throw new FarRefused(`No engine can run containers here: ${reasons.join('; ')}`);
}

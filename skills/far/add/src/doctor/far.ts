import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { whyUnreachable } from '../lib/far/far-connection.ts';
import { FarState, minutesLeft } from '../lib/far/far-state.ts';
import { dockerProblem } from '../lib/far/nats-container.ts';
import { checkServer, NO_JETSTREAM } from '../lib/far/server-check.ts';
import { readWorkerConfig } from '../lib/far/worker-folder.ts';
import type { Examination, Finding } from './examination.ts';
import { ok, problem } from './examination.ts';

const AREA = 'far';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** Both ends: the server at home, and the way home of a machine that has joined. */
export const examination: Examination = {
  area: AREA,
  order: 62,
  async examine({ dataDir, isOffline, now }): Promise<readonly Finding[]> {
    return [
      ...cutOff(dataDir, now()),
      ...(await atHome(dataDir, isOffline)),
      ...(await onWorker(dataDir, isOffline)),
    ];
  },
};

/** Machines that send too much. */
function cutOff(dataDir: string, nowMs: number): readonly Finding[] {
  const state = new FarState(dataDir);
  if (!state.isSetUp) return [];
  return state.read().machines.flatMap(({ name, cutOff }) => {
    const minutes = minutesLeft(cutOff, nowMs);
    if (minutes === 0) return [];
    return problem(
      AREA,
      `${name} sends far more than a worker has reason to, and is cut off for ${minutes} min; its chats run here`,
      `If you do not know why: \`npx claw far remove ${name}\`. \`npx claw far undrain ${name}\` lets it in at once.`,
    );
  });
}

async function atHome(dataDir: string, isOffline: boolean): Promise<readonly Finding[]> {
  const state = new FarState(dataDir);
  if (!state.isSetUp) return [];
  const { host, port, apply, image } = state.read();
  if (apply !== null) return await ownServer(state, isOffline);
  const server = image === null ? await natsProgram() : await natsContainer(image);
  if (typeof server !== 'string') return [server];
  const names = namesOf(state);
  const problemOf = await whyUnreachable(state.address());
  return problemOf === null
    ? [ok(AREA, `${server} answers at ${host}:${port}; machines: ${names}`)]
    : [
        problem(
          AREA,
          `the server of other machines does not answer (${problemOf})`,
          'It runs with the assistant: `npm start`. If that runs already: `npx claw chat /restart`, and `/far` says what is wrong.',
        ),
      ];
}

async function natsProgram(): Promise<string | Finding> {
  return await promisify(execFile)('nats-server', ['--version'], { env: { PATH } }).then(
    ({ stdout }) => stdout.trim(),
    () =>
      problem(
        AREA,
        'nats-server is not installed',
        'Debian: `sudo apt install nats-server`. Or run it in Docker: `npx claw far setup <address> --docker`.',
      ),
  );
}

async function natsContainer(image: string): Promise<string | Finding> {
  const reason = await dockerProblem();
  if (reason === null) return `the server in Docker (${image})`;
  return problem(
    AREA,
    `Docker does not answer, and the server of other machines runs in it (${reason})`,
    'Start Docker, or install nats-server and say `npx claw far setup <address>` without `--docker`.',
  );
}

/** A server that the owner runs may be on another machine. */
async function ownServer(state: FarState, isOffline: boolean): Promise<readonly Finding[]> {
  const { host, port } = state.read();
  const server = `your own server at ${host}:${port}`;
  if (isOffline) return [ok(AREA, `${server} was not asked; machines: ${namesOf(state)}`)];
  const check = await checkServer(state);
  if (check.kind === 'unusable') {
    return [problem(AREA, `${server} cannot be used: ${check.problem}`, check.advice)];
  }
  return [
    ok(
      AREA,
      `nats-server ${check.version} answers, ${server}; machines: ${namesOf(state)}`,
      check.hasJetStream ? null : NO_JETSTREAM,
    ),
  ];
}

function namesOf(state: FarState): string {
  return (
    state
      .read()
      .machines.map(({ name }) => name)
      .join(', ') || 'none yet'
  );
}

async function onWorker(dataDir: string, isOffline: boolean): Promise<readonly Finding[]> {
  const config = readWorkerConfig(dataDir);
  if (config === null) return [];
  const home = `${config.host}:${config.port}`;
  if (isOffline) return [ok(AREA, `this machine is ${config.name} of ${home}; it was not asked`)];
  const problemOf = await whyUnreachable(config);
  return problemOf === null
    ? [ok(AREA, `this machine is ${config.name}, and ${home} lets it in`)]
    : [
        problem(
          AREA,
          `${home} cannot be reached (${problemOf})`,
          'Look whether the assistant runs there, or join again with a new code of `npx claw far add`.',
        ),
      ];
}

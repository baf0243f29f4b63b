import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connectFar, type FarAddress } from '../lib/far/far-connection.ts';
import { FarState } from '../lib/far/far-state.ts';
import { readWorkerConfig } from '../lib/far/worker-folder.ts';
import type { Examination, Finding } from './examination.ts';
import { ok, problem } from './examination.ts';

const AREA = 'far';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** Both ends: the server at home, and the way home of a machine that has joined. */
export const examination: Examination = {
  area: AREA,
  order: 62,
  async examine({ dataDir, isOffline }): Promise<readonly Finding[]> {
    return [...(await atHome(dataDir)), ...(await onWorker(dataDir, isOffline))];
  },
};

async function atHome(dataDir: string): Promise<readonly Finding[]> {
  const state = new FarState(dataDir);
  if (!state.isSetUp) return [];
  const version = await promisify(execFile)('nats-server', ['--version'], { env: { PATH } }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (version === null) {
    return [
      problem(AREA, 'nats-server is not installed', 'Debian: `sudo apt install nats-server`.'),
    ];
  }
  const { host, port, homeSeed, machines } = state.read();
  const names = machines.map(({ name }) => name).join(', ') || 'none yet';
  const address = { host: '127.0.0.1', port, seed: homeSeed, certificate: state.certificate() };
  const problemOf = await reach(address);
  return problemOf === null
    ? [ok(AREA, `${version} answers at ${host}:${port}; machines: ${names}`)]
    : [
        problem(
          AREA,
          `the server of other machines does not answer (${problemOf})`,
          'It runs with the assistant: `npm start`.',
        ),
      ];
}

async function onWorker(dataDir: string, isOffline: boolean): Promise<readonly Finding[]> {
  const config = readWorkerConfig(dataDir);
  if (config === null) return [];
  const home = `${config.host}:${config.port}`;
  if (isOffline) return [ok(AREA, `this machine is ${config.name} of ${home}; it was not asked`)];
  const problemOf = await reach(config);
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

/** Connects and leaves. Returns why that was not possible. */
async function reach({ host, port, certificate, seed }: FarAddress): Promise<string | null> {
  try {
    const connection = await connectFar({
      ...{ host, port, certificate, seed },
      waitsForServer: false,
      onUp: () => {},
      onRefused: () => {},
    });
    await connection.close();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

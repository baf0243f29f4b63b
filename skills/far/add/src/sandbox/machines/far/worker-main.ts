// The program on the other machine: `claw far join` and `claw far run` start it.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { readWhatFits } from '../../../config.ts';
import { readWorkerConfig, workerFolder } from '../../../lib/far/worker-folder.ts';
import { discoverEngines, type Engine, EngineUnusable } from '../../engines/engine.ts';
import { agentUser } from '../../mounts/ownership.ts';
import { findersOf, ownUser } from '../../open.ts';
import { runFarWorker } from './far-worker.ts';

const projectDir = resolve(import.meta.dirname, '../../../..');
const dataDir = process.argv[2] ?? resolve(projectDir, 'data');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const config = readWorkerConfig(dataDir);
if (config === null) {
  process.stderr.write('This machine has not joined: run `npx claw far join CODE`.\n');
  process.exit(1);
}
const dir = workerFolder(dataDir);
const worker = await runFarWorker({
  config,
  engine: await openEngine(),
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

/** The best engine of this machine; its containers are told apart from those of an assistant here. */
async function openEngine(): Promise<Engine> {
  const { settings } = readWhatFits(process.env, projectDir);
  const reasons: string[] = [];
  const options = {
    projectDir,
    settings: { ...settings, dataDir: dir },
    homeDir: homedir(),
    environment: process.env,
    onProgress: say,
  };
  for (const { name, find } of findersOf(await discoverEngines(), options)) {
    try {
      return await find().open();
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  process.stderr.write(`No engine can run containers here: ${reasons.join('; ')}\n`);
  process.exit(1);
}

// The program on the other machine that proves: `claw far prove` starts it.
import { join, resolve } from 'node:path';
import { findBubblewrap, openJobRunner } from '@patchclaw/claw';
import { connectFar } from '../../lib/far/far-connection.ts';
import { readWorkerConfig, workerFolder } from '../../lib/far/worker-folder.ts';
import { ContentFolder } from './content-folder.ts';
import { ProofWorker } from './proof-worker.ts';

const projectDir = resolve(import.meta.dirname, '../../..');
const dataDir = process.argv[2] ?? resolve(projectDir, 'data');
const slots = Number(process.argv[3] ?? 1);

const config = readWorkerConfig(dataDir);
if (config === null) fail('This machine has not joined: run `npx claw far join CODE`.');
// At home a machine without it is the owner's choice. Here it would be the code of others beside the owner's files.
if ((await findBubblewrap(process.env['PATH'] ?? '')) === null) {
  fail(
    'Proofs run in bubblewrap here, and there is none that works: `sudo apt install bubblewrap`.',
  );
}
const refused = Promise.withResolvers<string>();
const connection = await connectFar({
  ...config,
  waitsForServer: true,
  onUp: () => say('the way home works again'),
  onDown: (reason) =>
    say(`${config.host}:${config.port} does not answer (${reason}); it is tried again`),
  onRefused: (reason) => refused.resolve(reason),
});
const ended = new AbortController();
const worker = new ProofWorker({
  machine: config.name,
  connection,
  slots,
  contents: new ContentFolder(join(workerFolder(dataDir), 'proofs')),
  runner: openJobRunner({
    root: projectDir,
    environment: process.env,
    allowScripts: null,
    signal: ended.signal,
  }),
  elapsed: () => performance.now(),
  onProgress: say,
});
say(`${config.name} proves for ${config.host}, ${slots} at a time`);
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
const reason = await refused.promise;
await end();
fail(`The home does not let this machine in any more (${reason}).`);

async function stop(): Promise<void> {
  await end();
  process.exit(0);
}

async function end(): Promise<void> {
  ended.abort();
  await worker.stop();
  await connection.close();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

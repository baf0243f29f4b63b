// The worker's program with the two engines that a test is about, whatever else is on its machine.
import { resolve } from 'node:path';
import { engine as bubblewrap } from '../../../src/sandbox/engines/bubblewrap.ts';
import { engine as docker } from '../../../src/sandbox/engines/docker.ts';
import { runWorkerProgram } from '../../../src/sandbox/machines/far/worker-program.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
await runWorkerProgram([docker, bubblewrap], PROJECT, process.env['PATCHCLAW_WORKER_DIR'] ?? null);

// The program on the other machine, in a tree: `claw far join`, `claw far run` and `claw far service` start it.
import { resolve } from 'node:path';
import { discoverEngines } from '../../engines/engine.ts';
import { runWorkerProgram } from './worker-program.ts';

const projectDir = resolve(import.meta.dirname, '../../../..');
const dataDir = process.env['PATCHCLAW_WORKER_DIR'] ?? resolve(projectDir, 'data');
await runWorkerProgram(await discoverEngines(), projectDir, dataDir);

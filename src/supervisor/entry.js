// Starts the supervisor with compiled code kept in data/cache/code, by the content of each file. Types are
// stripped once and not at each start, and the 20 MB of the stripper are not loaded at all. This file is
// JavaScript for that reason, and sets nothing that the assistant would not run without.
import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { finishInterruptedRestore } from './restore-swap.js';

const projectDir = resolve(import.meta.dirname, '../..');
const dataDir = resolve(projectDir, process.env['CLAW_DATA'] || 'data');
try {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The assistant inherits it.
  process.env['NODE_COMPILE_CACHE'] ??= join(dataDir, 'cache/code');
  enableCompileCache(process.env['NODE_COMPILE_CACHE']);
} catch {
  // Without a place to write it starts all the same, and says itself what is wrong with its data folder.
}
// A restore that was killed may have left old code beside new: nothing of it is loaded before that is finished.
const restored = await finishInterruptedRestore(projectDir);
if (restored === 'running') {
  process.stderr.write(
    'A backup is being restored here. Wait until that is done, and start again.\n',
  );
  process.exit(1);
}
if (restored === 'finished') process.stderr.write('A restore that was cut short is finished.\n');
// It waits for weeks and computes nothing.
setFlagsFromString('--optimize-for-size');
await import('./start.ts');

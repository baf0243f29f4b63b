import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../lock.ts';

// A second claw command: takes the lock of a folder, notes it in a file, and keeps it for a while.
const [, , root = '', log = '', heldMs = '0'] = process.argv;
await withLock(root, { verb: 'apply', timeoutMs: 120_000 }, async () => {
  appendFileSync(log, `enter ${process.pid}\n`);
  await sleep(Number(heldMs));
  appendFileSync(log, `leave ${process.pid}\n`);
});

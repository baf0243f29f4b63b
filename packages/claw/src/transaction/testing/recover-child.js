import process from 'node:process';
import { recover } from '../recover.js';

// Plain JavaScript, so that the oldest Node can run it: recovers the folder it is given.
const decision = /** @type {import('../journal.ts').Decision | undefined} */ (process.argv[3]);
process.stdout.write(JSON.stringify(recover(process.argv[2] ?? '', decision)));

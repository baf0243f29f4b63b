import { commitSteps } from '../commit.ts';
import { slowDisk } from './slow-disk.ts';

// A process of its own, so that it can be killed: adds many files on a slow disk, in the folder it is given.
// The second argument is what it starts as Node for the syncs that are done at once. Prints how many it did itself.
const [root = '', node = ''] = process.argv.slice(2);
process.execPath = node;
const { count } = slowDisk();
commitSteps(root, {
  verb: 'apply',
  summary: 'many files',
  stateBefore: null,
  stateAfter: null,
  steps: Array.from({ length: 130 }, (_, n) => ({
    kind: 'write',
    path: `src/${n}.txt`,
    bytes: Buffer.from(`file ${n}\n`),
    isExecutable: false,
    before: null,
  })),
});
process.stdout.write(String(count()));

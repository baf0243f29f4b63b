import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../../testing/engine.ts';
import { openBubblewrap } from './bwrap.ts';

const LIMITS = { memoryBytes: 4 * 1_073_741_824, processes: 200, cpus: 1 };

await describeWithEngine('bubblewrap', 'what runs in bubblewrap', () => {
  // The host is root where the tests are, and most owners are not.
  test.each([true, false])(
    'makes no user namespace, in which it would be root to more of the kernel (host is root: %s)',
    async (isRoot) => {
      const engine = await openBubblewrap({
        user: { uid: 1000, gid: 1000 },
        isRoot,
        nodePath: process.execPath,
      });
      const program = await engine.startProgram?.({
        name: 'namespaces',
        command: ['sh', '-c', 'id -u; unshare --user --map-root-user id -u 2>&1'],
        environment: {},
        hasNetwork: false,
        mounts: [],
        limits: LIMITS,
      });
      if (program === undefined) throw new Error('the engine runs no programs');
      const said = await text(program.stdout);
      expect(said).toMatch(/^1000\n.*unshare.*(failed|not permitted|No space)/i);
    },
  );
});

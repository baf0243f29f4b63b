import { expect, test, vi } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

/** Finds the agent's Node among the processes that have its file in their arguments. */
const AGENT =
  '$(for p in /proc/[0-9]*; do grep -aq claw/agent.mjs $p/cmdline && readlink $p/exe | grep -q node && basename $p; done)';
const SIGUSR1 = 0x200n;

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `a command of the agent under ${engine}`, () => {
    test('opens no inspector in the agent by its signal', async () => {
      await using project = await sandboxProject({ engine });
      const said = await project.answer(
        `shell: for p in ${AGENT}; do kill -USR1 $p && grep SigCgt /proc/$p/status; done`,
      );
      const [, caught = ''] = /SigCgt:\s*([0-9a-f]+)/.exec(said) ?? [];
      expect(caught).toMatch(/^[0-9a-f]{16}$/);
      expect(BigInt(`0x${caught}`) & SIGUSR1).toBe(0n);
      expect(await project.answer('still there')).toBe('You said: still there');
    });

    test('makes no namespace of its own, in which it would be root', async () => {
      await using project = await sandboxProject({ engine });
      expect(await project.answer('shell: unshare --user --map-root-user id -u')).toMatch(
        /unshare.*(failed|not permitted|No space)/i,
      );
    });

    test('that leaves a crowd of processes gets a fresh container for the next turn', async () => {
      await using project = await sandboxProject({ engine });
      await project.answer('shell: touch /tmp/first');
      const flood = 'for i in $(seq 60); do (while :; do sleep 60; done) >/dev/null 2>&1 & done';
      await project.answer(`shell: ${flood}; echo started`);
      await vi.waitFor(() => expect(project.sandbox.warm()).toBe(0));
      expect(await project.answer('shell: ls /tmp; ls /proc | grep -c "^[0-9]"')).not.toContain(
        'first',
      );
    });

    test('that leaves one process in the background keeps its container', async () => {
      await using project = await sandboxProject({ engine });
      await project.answer('shell: touch /tmp/first; sleep 600 >/dev/null 2>&1 & echo started');
      expect(await project.answer('shell: ls /tmp')).toContain('first');
    });
  });
}

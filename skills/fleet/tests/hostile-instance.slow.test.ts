// An instance whose owner has made its programs never end, in a real container.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Containers, docker } from '../../../src/lib/fleet/containers.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';

const BASES = ['patchclaw-base:bookworm', 'node:24-slim'];
/** Says what it was told to say, and ends only where that is something. */
const PROGRAM = `
const { SAYS } = process.env;
if (SAYS === undefined) setInterval(() => {}, 1_000);
else console.log(SAYS);
`;

await describeWithEngine(
  'docker',
  'an instance that its owner has turned against its keeper',
  () => {
    const id = randomBytes(3).toString('hex');
    const containers = new Containers(id, '256m', { answerMs: 2_000, workMs: 4_000 });
    const names = ['silent', 'loud'];
    let image = '';

    beforeAll(async () => {
      for (const base of BASES) {
        image ||= (await docker('images', '--quiet', base)) === '' ? '' : base;
      }
      const said = {
        status: 200,
        headers: {
          'content-type': 'text/html',
          'set-cookie': 'a=b',
          'content-security-policy': '',
        },
        body: '',
      };
      for (const name of names) {
        const says = name === 'loud' ? ['--env', `SAYS=${JSON.stringify(said)}`] : [];
        const run = ['--detach', '--init', '--name', containers.nameOf(name), ...says];
        const folder = '/opt/patchclaw';
        const keep = `mkdir -p ${folder}; echo '${PROGRAM}' > ${folder}/new; mv ${folder}/new ${folder}/instance.mjs; exec sleep 600`;
        await docker('run', run, '--entrypoint', 'sh', image, '-c', keep);
        const isThere = `until [ -f ${folder}/instance.mjs ]; do sleep 0.1; done`;
        await docker('exec', containers.nameOf(name), 'sh', '-c', isThere);
      }
    }, 120_000);

    afterAll(async () => {
      await docker('rm', '--force', ...names.map((name) => containers.nameOf(name)));
      await docker('volume', 'rm', '--force', `claw-${id}-volume`);
    }, 120_000);

    test('what never ends is given up, so that others have their turn', async () => {
      await expect(containers.activity('silent')).rejects.toThrow('it did not end');
      await expect(containers.request('silent', { method: 'POST' })).rejects.toThrow(
        'it did not end',
      );
      const { signal } = new AbortController();
      expect(await containers.untilUp('silent', signal, 1_000)).toContain('it does not come up');
      const version = { volume: `claw-${id}-volume`, image };
      await expect(containers.shell(version, 'sleep 600')).rejects.toThrow('it did not end');
      const left = await docker(
        'ps',
        '--all',
        '--quiet',
        '--filter',
        `label=patchclaw.fleet=${id}`,
      );
      expect(left).toBe('');
    }, 120_000);

    test('its answers bring no header to the address of its keeper but what they are', async () => {
      const { status, headers } = await containers.request('loud', { method: 'POST' });
      expect([status, headers]).toEqual([200, { 'content-type': 'text/html' }]);
    }, 120_000);
  },
);

// Two owners with a container and a volume each, from real images, and agents in bubblewrap inside the containers.
import { existsSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicScript,
  type AnthropicServer,
  lastToolResults,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof } from '../story/clone.ts';

const MINUTES = 20 * 60_000;
const TREE = '/instance/patchclaw';
const PROGRAM = ['node', '/opt/patchclaw/instance.mjs'];
/** Tools of developers, which no instance of this test needs: half of what would be copied. */
const NOT_NEEDED = ['@biomejs', '@rolldown', '@swc', '@typescript', 'knip', 'playwright-core'];
const BROKEN = "throw new Error('a broken release');\nexport const nothing = null;\n";

/** Runs the shell line that it was told, and says what came out. */
const worker: AnthropicScript = (request) => {
  const [result] = lastToolResults(request);
  if (result !== undefined) return [{ type: 'text', text: `It said: ${JSON.stringify(result)}` }];
  const [, command] = /shell: (.*)/.exec(lastUserText(request)) ?? [];
  if (command === undefined) return [{ type: 'text', text: 'Yes?' }];
  return [{ type: 'tool_use', id: 'toolu_1', name: 'shell', input: { command } }];
};

/** The model answers from this process, so nothing here may block it. */
const docker = async (...words: readonly string[]): Promise<string> =>
  (await execa('docker', words, { stdin: 'ignore' })).stdout;

await describeWithEngine('docker', 'a fleet of two owners', () => {
  let model: AnthropicServer;
  let relay: Relay;
  let clone: Clone;

  beforeAll(async () => {
    model = await startAnthropicServer(worker);
    relay = await relayTo(Number(new URL(model.url).port));
    clone = cloneWithoutProof({ CLAW_SANDBOX: 'bubblewrap' });
    for (const name of NOT_NEEDED) {
      rmSync(clone.path(`node_modules/${name}`), { recursive: true, force: true });
    }
    const { json } = await clone.claw('apply', 'fleet', 'webhook');
    expect(json.error).toBeNull();
  }, MINUTES);

  afterAll(async () => {
    if (clone !== undefined && existsSync(clone.path('data/fleet/fleet.json'))) {
      for (const words of await allOf(book().id)) await docker(...words);
    }
    await clone?.[Symbol.asyncDispose]();
    relay?.close();
    await model?.close();
  }, MINUTES);

  const fleet = (...words: readonly string[]) => clone.claw('fleet', ...words);
  const book = () => Book.parse(JSON.parse(clone.read('data/fleet/fleet.json')));
  const versionOf = (name: string) =>
    book().instances.find((one) => one.name === name)?.version ?? { volume: '', image: '' };
  const inside = async (name: string, ...words: readonly string[]) =>
    await docker('exec', `claw-${book().id}-${name}`, ...words);
  const claw = async (name: string, ...words: readonly string[]) =>
    await inside(name, ...PROGRAM, 'claw', ...words);
  const volumes = async () => await linesOf('volume', 'ls', '-q', '--filter', labelOf(book().id));
  const messages = async (name: string) =>
    Activity.parse(JSON.parse(await inside(name, ...PROGRAM, 'activity'))).messages;

  test(
    'each has a tree and settings of its own, and agents without a network in a container without rights',
    async () => {
      const settings = `ANTHROPIC_API_KEY=sk-ant-test\nANTHROPIC_BASE_URL=${relay.url}\n`;
      clone.write({ 'mira.env': settings });
      expect((await fleet('add', 'mira', '--env', 'mira.env')).json.error).toBeNull();
      expect((await fleet('add', 'noah')).json.error).toBeNull();
      const line = 'shell: grep -c : /proc/net/dev; id -u; echo tea > wish';
      expect(await claw('mira', 'chat', line)).toMatch(/It said: .*1\\n1000/);
      expect(await inside('mira', 'cat', `${TREE}/groups/main/wish`)).toBe('tea');
      const rights = 'grep CapEff /proc/self/status; touch /x 2>&1 || true';
      expect(await inside('mira', 'sh', '-c', rights)).toMatch(
        /CapEff:\s+0000000000000000\n.*Read-only file system/,
      );
      expect(await inside('noah', 'cat', `${TREE}/.env`)).toBe('');
      expect(await inside('noah', 'ls', TREE)).not.toContain('mira.env');
    },
    MINUTES,
  );

  test(
    'an upgrade brings a release to both, and keeps what an owner changed and wrote',
    async () => {
      // Mira changes her own assistant, as owners do.
      await inside(
        'mira',
        'sed',
        '-i',
        '1i // This line is of Mira.',
        `${TREE}/src/prompt/time.ts`,
      );
      clone.write({ 'src/prompt/later-release.txt': 'new\n' });
      const [before, count] = [versionOf('mira'), await messages('mira')];
      const asked = model.requests.length;
      const { json } = await fleet('upgrade', '--watch', '0');
      expect(json).toMatchObject({
        error: null,
        data: { ends: { mira: { kind: 'upgraded' }, noah: { kind: 'upgraded' } } },
      });
      for (const name of ['mira', 'noah']) {
        expect(await inside(name, 'cat', `${TREE}/src/prompt/later-release.txt`)).toBe('new');
      }
      expect(versionOf('mira').volume).not.toBe(before.volume);
      // Two that are used, and two from before this upgrade.
      expect(await volumes()).toHaveLength(4);
      expect(await inside('mira', 'head', '-1', `${TREE}/src/prompt/time.ts`)).toContain('of Mira');
      expect(count).toBeGreaterThan(0);
      expect(await messages('mira')).toBe(count);
      // Nobody was asked while it was tried.
      expect(model.requests).toHaveLength(asked);
      expect(await claw('mira', 'chat', 'shell: cat wish')).toContain('tea');
    },
    MINUTES,
  );

  test(
    'a release whose canary does not come up is rolled back, and the other owner never meets it',
    async () => {
      const before = { book: book().instances, volumes: await volumes() };
      const count = await messages('mira');
      clone.write({ 'src/prompt/broken.ts': BROKEN });
      const { json } = await fleet('upgrade', '--canary', '1', '--watch', '0');
      rmSync(clone.path('src/prompt/broken.ts'));
      expect(json.error?.message).toMatch(
        /^mira was rolled back: .*did not come up.* Left as they were: noah\.$/,
      );
      expect({ book: book().instances, volumes: await volumes() }).toEqual(before);
      expect(await messages('mira')).toBe(count);
      expect((await fleet('wake', 'mira')).json.error).toBeNull();
      expect(await claw('mira', 'chat', 'shell: cat wish')).toContain('tea');
      expect(await inside('mira', 'head', '-1', `${TREE}/src/prompt/time.ts`)).toContain('of Mira');
    },
    MINUTES,
  );

  test(
    'one that sleeps is woken by a request at its door, which it takes once; its backup comes here',
    async () => {
      const hook = ['door', '--group', 'main', '--from', 'token', '--does', 'message'];
      await claw('noah', 'setup', 'webhook', 'add', ...hook);
      const { hooks } = Hooks.parse(
        JSON.parse(await inside('noah', 'cat', `${TREE}/data/webhook/hooks.json`)),
      );
      expect((await fleet('stop', 'noah', '--until-asked')).json.error).toBeNull();
      const running = ['ps', '-q', '--filter', `name=claw-${book().id}-noah`];
      expect(await docker(...running)).toBe('');
      await using _ = await Assistant.start(clone);
      const patience = { timeout: MINUTES, interval: 500 };
      const address = await vi.waitFor(() => clone.read('data/http/address').trim(), patience);
      const knock = async () => {
        const { status } = await fetch(`${address}/fleet/noah/hooks/door`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${hooks.door.secret}`,
            'idempotency-key': 'knock-1',
          },
          body: JSON.stringify({ text: 'The parcel is here.' }),
        });
        // On a slow machine the door gives up before the instance is up, and the sender tries again.
        expect([200, 202]).toContain(status);
      };
      await vi.waitFor(knock, patience);
      await knock();
      expect((await fleet('list')).json.data).toMatchObject({
        instances: [{ name: 'mira' }, { name: 'noah', wish: 'running', isUp: true }],
      });
      const kept = 'SELECT count(*) FROM outbox WHERE text LIKE ?';
      const count = `console.log(require('better-sqlite3')('data/claw.db').prepare('${kept}').pluck().get('%parcel%'))`;
      expect(await inside('noah', 'sh', '-c', `cd ${TREE} && node -e "${count}"`)).toBe('1');
      const { files } = Files.parse((await fleet('backup', 'noah')).json.data);
      expect((await clone.claw('backup', 'verify', files.noah)).json.error).toBeNull();
    },
    MINUTES,
  );

  test(
    'a fleet whose owners are taken out, with their data, leaves nothing on the machine',
    async () => {
      for (const name of ['mira', 'noah']) {
        const { json } = await fleet('remove', name, '--delete-data', '--yes');
        expect(json.error).toBeNull();
      }
      expect(await allOf(book().id)).toEqual([]);
    },
    MINUTES,
  );
});

const Version = z.object({ volume: z.string(), image: z.string() });
const Book = z.object({
  id: z.string().min(1),
  instances: z.array(z.looseObject({ name: z.string(), version: Version })),
});
const Activity = z.object({ messages: z.int() });
const Hooks = z.object({ hooks: z.object({ door: z.object({ secret: z.string() }) }) });
const Files = z.object({ files: z.object({ noah: z.string() }) });

const labelOf = (id: string): string => `label=patchclaw.fleet=${id}`;

async function linesOf(...words: readonly string[]): Promise<string[]> {
  return (await docker(...words)).split('\n').filter((line) => line !== '');
}

/** Lists all that a fleet has made, each as the words that remove it. */
async function allOf(id: string): Promise<string[][]> {
  const mine = ['-q', '--filter', labelOf(id)];
  return [
    ...(await linesOf('ps', '-a', ...mine)).map((one) => ['rm', '--force', one]),
    ...(await linesOf('volume', 'ls', ...mine)).map((one) => ['volume', 'rm', one]),
    ...(await linesOf('images', ...mine)).map((one) => ['rmi', '--force', one]),
    ...(await linesOf('network', 'ls', '-q', '--filter', `name=^claw-${id}$`)).map((one) => [
      'network',
      'rm',
      one,
    ]),
  ];
}

type Relay = { readonly url: string; readonly close: () => void };

/** Makes the model's server, which listens on this machine alone, reachable for containers. */
async function relayTo(port: number): Promise<Relay> {
  const format = '{{with index .IPAM.Config 0}}{{.Gateway}} {{.Subnet}}{{end}}';
  const said = await docker('network', 'inspect', '--format', format, 'bridge');
  const [, named, subnet = ''] = /^(\S*) (\S+)/.exec(said) ?? [];
  // A daemon that found the bridge of an earlier one does not name its address: it is the first of its network.
  const host = named || subnet.replace(/\.0\/\d+$/, '.1');
  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    socket.pipe(upstream).pipe(socket);
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://${host}:${own}`, close: () => server.close() };
}

import { request } from 'node:http';
import { expect, test } from 'vitest';
import { connectToHost } from '../../../container/agent/host/connection.ts';
import { socketFetch } from '../../../container/agent/host/socket-fetch.ts';
import { readSettings } from '../../config.ts';
import { ContributionFolder } from '../../testing/contributions.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { openSandbox } from '../open.ts';
import type { Endpoint } from '../protocol/endpoint.ts';
import { openFrameLink } from '../protocol/frame-link.ts';
import { type AgentFrame, HostFrame } from '../protocol/frames.ts';
import { PROTOCOL } from '../protocol/protocol.ts';
import {
  type ContainerSpec,
  defineEngine,
  discoverEngines,
  EngineUnusable,
  engineSetting,
} from './engine.ts';

/** An engine that is not here, and says what it was made of. */
const HARBOUR = `
  import { z } from 'zod';
  import { defineEngine, EngineUnusable } from 'src/sandbox/engines/engine.ts';
  export const engine = defineEngine({
    name: 'harbour',
    order: 50,
    limits: 'container',
    install: 'build a harbour',
    settings: z.object({ HARBOUR_DEPTH: z.string().regex(/^[0-9]+$/, 'must be a number').optional() }),
    create: (context) => ({
      open: async () => { throw new EngineUnusable(Object.keys(context).sort().join() + JSON.stringify(context.settings)); },
      look: async () => { throw new EngineUnusable('no water.'); },
    }),
  });`;

const KEYS = 'baseImage,builds,dataDir,homeDir,nodePath,onProgress,projectDir,settings,uid,user';

test('an engine is a file: CLAW_SANDBOX takes its name, and it gets its own settings', async () => {
  using folder = new ContributionFolder({ 'harbour.ts': HARBOUR });
  const engines = await discoverEngines(folder.dir);
  const accepts = (name: string) =>
    engineSetting(engines).safeParse({ CLAW_SANDBOX: name }).success;
  expect([accepts('harbour'), accepts('docker')]).toEqual([true, false]);
  const opened = await open(engines, { HARBOUR_DEPTH: '7', ANTHROPIC_API_KEY: 'not-yours' });
  expect(opened).toEqual({
    kind: 'unavailable',
    advice: `To run agents, build a harbour. Found: harbour: ${KEYS}{"HARBOUR_DEPTH":"7"}`,
  });
  const wrong = await open(engines, { HARBOUR_DEPTH: 'deep' });
  expect(wrong).toMatchObject({
    advice: expect.stringContaining('HARBOUR_DEPTH must be a number'),
  });
});

test('the engines of this tree are tried in their order, those of skills among them', async () => {
  using folder = new ContributionFolder({ 'harbour.ts': HARBOUR });
  const namesOf = (engines: readonly { readonly name: string }[]) =>
    engines.map(({ name }) => name);
  // Those of skills may stand between them.
  const own = ['docker', 'podman', 'bubblewrap'];
  const found = namesOf(await discoverEngines());
  expect(found.filter((name) => own.includes(name))).toEqual(own);
  const all = [...(await discoverEngines()), ...(await discoverEngines(folder.dir))];
  expect(namesOf(all.toSorted((one, other) => one.order - other.order))[0]).toBe('harbour');
});

test('a name that no engine here has is told, and nothing else runs agents instead', async () => {
  const engines = await discoverEngines();
  const settings = { ...readSettings({}, '/nonexistent'), sandbox: 'harbour' };
  expect(await open(engines, {}, settings)).toEqual({
    kind: 'unavailable',
    advice: expect.stringMatching(/^CLAW_SANDBOX is harbour, which no engine here is called\./),
  });
});

await describeWithEngine('bubblewrap', 'an engine of a skill', () => {
  test('may reach the host by TCP: with its token an agent runs turns, without it nothing', async () => {
    const refused: unknown[] = [];
    const engine = defineEngine({
      name: 'ferry',
      order: 10,
      limits: 'container',
      install: 'build a ferry',
      create: () => ({
        look: () => Promise.reject(new EngineUnusable('none')),
        open: async () => ({
          name: 'ferry',
          description: 'ferry 1',
          transport: { kind: 'tcp', listen: '127.0.0.1', host: 'localhost' },
          async startContainer({ endpoint }: ContainerSpec) {
            if (endpoint.kind === 'socket') throw new Error('no address');
            const stranger = { ...endpoint, token: 'a'.repeat(64) };
            refused.push(await statusWithout(endpoint));
            refused.push(await socketFetch(stranger)(ADDRESS).then(({ status }) => status));
            refused.push(await connectToHost(stranger).catch(String));
            return agentAt(endpoint);
          },
        }),
      }),
    });
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      settings: { sandbox: 'ferry' },
      options: { engines: [engine] },
    });
    expect(project.sandbox.description).toBe('ferry 1');
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(refused).toEqual([401, 401, expect.stringContaining('401 Unauthorized')]);
  });
});

const ADDRESS = 'http://model.invalid/v1/messages';

/** Connects as an agent that asks the model once and ends the turn with its answer. */
async function agentAt(endpoint: Extract<Endpoint, { kind: 'tcp' }>) {
  const stream = await connectToHost(endpoint);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const link = openFrameLink<HostFrame, AgentFrame>({
    stream,
    schema: HostFrame,
    async onFrame(frame) {
      if (frame.type !== 'turn') return;
      const messages = [{ role: 'user', content: frame.prompt }];
      const answer = await socketFetch(endpoint)(ADDRESS, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: frame.model.model, max_tokens: 100, messages }),
      });
      const { content } = (await answer.json()) as { content: { text: string }[] };
      const text = content[0]?.text ?? '';
      link.send({ type: 'done', turn: frame.id, text, session: 's1' });
    },
    onGarbage: resolve,
    onClose: () => resolve('left'),
  });
  link.send({ type: 'ready', protocol: PROTOCOL });
  const stop = async () => void stream.destroy();
  return { id: 'ferry-1', ended, stop };
}

function statusWithout({ port }: Extract<Endpoint, { kind: 'tcp' }>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/v1/messages', method: 'POST' });
    asked.on('response', (answer) => resolve(answer.resume().statusCode));
    asked.on('error', reject);
    asked.end();
  });
}

function open(
  engines: Awaited<ReturnType<typeof discoverEngines>>,
  environment: Readonly<Record<string, string>>,
  settings = readSettings({}, '/nonexistent'),
) {
  const onProgress = () => {};
  const [projectDir, homeDir] = ['/nonexistent', '/home/ada'];
  const elapsed = () => 0;
  return openSandbox({
    projectDir,
    homeDir,
    settings,
    engines,
    environment,
    elapsed,
    now: Date.now,
    onProgress,
  });
}

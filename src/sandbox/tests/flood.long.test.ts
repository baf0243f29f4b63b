import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  answersOf,
  borrowed,
  startAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastUserText } from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

/** What any command in a container can do: calls of the model that are long, of many parts, one after the other. */
const FLOOD = `
  import { appendFileSync, existsSync } from 'node:fs';
  import http from 'node:http';
  const bodyOf = (part, megabytes) => {
    const [head, end] = ['{"model":"m","max_tokens":1,"messages":[', part.slice(0, -1) + ']}'];
    const count = Math.floor((megabytes * 1_048_576 - head.length - end.length) / part.length);
    return Buffer.from(head + part.repeat(count) + end);
  };
  const bodies = [bodyOf('0,', 5), bodyOf('[],', 19.9), bodyOf('{},', 5), bodyOf('0,', 19.9)];
  const post = (body) => new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = { socketPath: '/run/claw/host.sock', path: '/v1/messages', method: 'POST', headers };
    const request = http.request(options, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.on('error', () => resolve('broken')).end(body);
  });
  await Promise.all(bodies.map(async (body) => {
    while (!existsSync('enough')) appendFileSync('answers', (await post(body)) + '\\n');
  }));`;

await describeWithEngine('bubblewrap', 'a container that floods the host', () => {
  test('with model calls of 5 and 20 MB: the other chats are served, and each call costs little', async () => {
    await using sandboxed = await sandboxProject({
      engine: 'bubblewrap',
      script: (request) =>
        lastUserText(request).includes('flood')
          ? [{ type: 'tool_use', name: 'shell', input: { command: 'node flood.mjs' } }]
          : [{ type: 'text', text: 'Here I am.' }],
    });
    using project = new TestProject();
    const folder = join(sandboxed.dir, 'groups/family');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'flood.mjs'), FLOOD);
    const answered = () => readFileSync(join(folder, 'answers'), 'utf8').trim().split('\n');
    const { terminal, chat, store, stop } = await startAssistant(project.dir, {
      environment: sandboxed.environment,
      over: { sandbox: borrowed(sandboxed.sandbox) },
    });
    await chat.meet('chat:f', 'Family');
    await terminal.say('/register Family always');
    await vi.waitFor(() => expect(store.groups.byJid('chat:f')?.folder).toBe('family'));
    await chat.say('flood', { jid: 'chat:f', isDirect: false, chatName: 'Family' });
    await vi.waitFor(() => expect(answered().length).toBeGreaterThan(3));

    const before = { calls: answered().length, cpu: process.threadCpuUsage() };
    for (const said of ['one', 'two', 'three']) {
      const { length } = terminal.sent;
      await terminal.say(said);
      await vi.waitFor(() => expect(textsOf(terminal).slice(length)).toContain('Here I am.'));
    }
    // The flood went on meanwhile.
    await vi.waitFor(() => expect(answered().length).toBeGreaterThan(before.calls + 20));
    const { user, system } = process.threadCpuUsage(before.cpu);
    const cpuMs = (user + system) / 1_000 / (answered().length - before.calls);
    // Before a bound, each call of 5 MB took 25 s of CPU time, and one of 20 MB all memory.
    expect(cpuMs).toBeLessThan(2_000);
    expect(answersOf(chat)).toEqual([]);

    writeFileSync(join(folder, 'enough'), '');
    await vi.waitFor(() => expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0 }));
    expect(new Set(answered())).toEqual(new Set(['400']));
    await stop();
  });
});

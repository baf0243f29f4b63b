import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from './store/store.ts';
import { TestConversation, TestTree } from './testing/claw/supervised-project.ts';
import { describeWithEngine } from './testing/engine.ts';
import { startAnthropicServer } from './testing/model/anthropic.ts';
import { shellScript, TEST_KEY } from './testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'the assistant as a whole', () => {
  test('a line is answered by the agent in its sandbox, and the key stays out of the logs', async () => {
    const server = await startAnthropicServer(shellScript);
    using tree = new TestTree();
    await using conversation = TestConversation.start(tree, {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: TEST_KEY,
    });
    const lines = ['hello there', 'shell: echo remembered > note.txt', '/status', ''];
    expect(await conversation.end(lines.join('\n'))).toBe(0);
    await server.close();
    expect(conversation.stdout).toContain('You said: hello there');
    expect(readFileSync(join(tree.dir, 'groups/main/note.txt'), 'utf8')).toBe('remembered\n');
    expect(conversation.stdout).toContain('(key is set)');
    const logs = readdirSync(join(tree.dataDir, 'logs'));
    expect(logs.toSorted()).toEqual([
      expect.stringMatching(/^assistant-\d{4}-\d\d-\d\d\.log$/),
      expect.stringMatching(/^supervisor-\d{4}-\d\d-\d\d\.log$/),
    ]);
    const told = readFileSync(tree.logFile('assistant'), 'utf8');
    expect(told).not.toContain('hello there');
    const what = ['message was stored', 'turn started', 'container started', 'turn ended'];
    for (const words of [...what, 'message was sent', 'container ended']) {
      expect(told).toMatch(new RegExp(`"group":"main".*a ${words}`));
    }
    const logged = logs.map((name) => readFileSync(join(tree.dataDir, 'logs', name), 'utf8'));
    for (const text of [...logged, conversation.stdout, conversation.stderr]) {
      expect(text).not.toContain(TEST_KEY);
    }
  });

  test('if Docker was lost, no agent runs until the owner says so, once', async () => {
    const server = await startAnthropicServer(shellScript);
    using tree = new TestTree();
    mkdirSync(tree.dataDir, { mode: 0o700 });
    const store = openStore({ path: join(tree.dataDir, 'claw.db'), now: 1 });
    store.engines.note({ kind: 'ready', engine: 'docker', description: 'docker 28.2' });
    store.meta.set('greeted', 'yes');
    store.close();
    const environment = {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: TEST_KEY,
      CLAW_SANDBOX: '',
      DOCKER_HOST: 'unix:///nowhere/docker.sock',
    };
    await using first = TestConversation.start(tree, environment);
    await first.sees('say `/sandbox bubblewrap` to let them run in bubblewrap');
    first.write('hello there\n/groups\n');
    await first.sees('Registered:');
    expect(first.stdout).not.toContain('You said');
    expect(await first.end('/sandbox bubblewrap\n/retry\n')).toBe(0);
    expect(first.stdout).toContain('Now: bubblewrap');
    expect(first.stdout).toContain('You said: hello there');
    await using second = TestConversation.start(tree, environment);
    expect(await second.end('hello again\n')).toBe(0);
    expect(second.stdout).toContain('You said: hello again');
    expect(second.stdout).not.toContain('/sandbox');
    await using third = TestConversation.start(tree, environment);
    expect(await third.end('/sandbox docker\nhello once more\n')).toBe(0);
    expect(third.stdout).toContain('You said: hello once more');
    await server.close();
  });

  test('a model that refuses is told in the chat, and retried when the owner says so', async () => {
    let isDown = true;
    const server = await startAnthropicServer((request) =>
      isDown ? { kind: 'error', status: 401 } : shellScript(request),
    );
    using tree = new TestTree();
    await using conversation = TestConversation.start(tree, {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: TEST_KEY,
    });
    await conversation.sees('> ');
    conversation.write('hello there\n');
    await conversation.sees('Say `/retry` to try again.');
    isDown = false;
    expect(await conversation.end('/retry\n')).toBe(0);
    await server.close();
    expect(conversation.stdout).toContain('You said: hello there');
    expect(existsSync(join(tree.dataDir, 'claw.db'))).toBe(true);
  });
});

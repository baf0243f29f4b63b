import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/host/contracts/tool.ts';
import { realTimer } from '../../../src/host/scheduler/alarm.ts';
import { openTools } from '../../../src/host/turns/tool-calls/toolbox.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { connect, serve } from './fixtures.ts';

const LETTER = `---
description: A letter in the owner's words
arguments:
  to: Who gets it
---
Write to {{to}} about {{ about }}, and sign with {{to}}'s friend.
`;

function putPrompt(project: TestProject, path: string, text: string): void {
  const at = join(project.dir, 'groups', path);
  mkdirSync(join(at, '..'), { recursive: true });
  writeFileSync(at, text);
}

test('prompts are the owner’s files, with arguments, and a summary of a chat; arguments are completed', async () => {
  const project = new TestProject();
  putPrompt(project, 'main/prompts/letter.md', LETTER);
  putPrompt(project, 'main/prompts/broken.md', '---\n: [\n---\n# Broken head\n\nStill a prompt.');
  putPrompt(project, 'global/prompts/letter.md', 'Hidden by that of main.');
  putPrompt(project, 'global/prompts/week.md', 'Plan my week.');
  symlinkSync('/etc/hostname', join(project.dir, 'groups/main/prompts/linked.md'));
  await using served = await serve(project);
  const client = await connect(served);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name, description }) => `${name}: ${description}`)).toEqual([
    'catch_up: What was said in a chat, summed up',
    'broken: Broken head',
    "letter: A letter in the owner's words",
    'week: Plan my week.',
  ]);
  expect(prompts[2]?.arguments).toEqual([
    { name: 'to', description: 'Who gets it', required: true },
    { name: 'about', required: true },
  ]);
  const letter = { name: 'letter', arguments: { to: 'Bob {{about}}', about: 'fish' } };
  expect((await client.getPrompt(letter)).messages).toEqual([
    {
      role: 'user',
      content: {
        type: 'text',
        text: "Write to Bob {{about}} about fish, and sign with Bob {{about}}'s friend.",
      },
    },
  ]);
  await expect(client.getPrompt({ name: 'letter', arguments: { to: 'Bob' } })).rejects.toThrow(
    'needs the argument "about"',
  );
  await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow('There is no prompt nothing');
  const caught = await client.getPrompt({ name: 'catch_up', arguments: { chat: 'family' } });
  expect(caught.messages[0]?.content).toMatchObject({
    type: 'resource',
    resource: {
      uri: 'patchclaw://history/family',
      text: expect.stringContaining('The plumber comes on Tuesday'),
    },
  });
  await expect(
    client.getPrompt({ name: 'catch_up', arguments: { chat: 'nobody' } }),
  ).rejects.toThrow('No chat is registered');
  const complete = async (ref: Parameters<typeof client.complete>[0]['ref'], value: string) =>
    (await client.complete({ ref, argument: { name: 'chat', value } })).completion.values;
  const catchUp = { type: 'ref/prompt', name: 'catch_up' } as const;
  expect(await complete(catchUp, '')).toEqual(['family', 'main']);
  expect(await complete(catchUp, 'Fa')).toEqual(['family']);
  const template = { type: 'ref/resource', uri: 'patchclaw://memory/{chat}' } as const;
  expect(await complete(template, 'm')).toEqual(['main']);
  await expect(complete({ type: 'ref/prompt', name: 'nothing' }, '')).rejects.toThrow();
  await client.close();
});

test('who watches a resource is told when it changes, also of a chat that comes later', async () => {
  // The pause between two looks is not part of what is tested.
  const setTimer: typeof realTimer = (ms, end) => realTimer(ms === 5_000 ? 10 : ms, end);
  await using served = await serve(new TestProject(), { over: { setTimer } });
  const client = await connect(served);
  const told: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params: { uri } }) => {
    told.push(uri);
  });
  for (const uri of ['memory/family', 'history/family', 'memory/later', 'tasks'])
    await client.subscribeResource({ uri: `patchclaw://${uri}` });
  const memory = join(served.project.dir, 'groups/family/CLAUDE.md');
  writeFileSync(memory, 'Bob eats fish now.');
  await vi.waitFor(() => expect([...new Set(told)]).toEqual(['patchclaw://memory/family']));
  await served.assistant.chat.say('And on Friday', { jid: 'chat:f', isDirect: false });
  await vi.waitFor(() => expect(told).toContain('patchclaw://history/family'));
  const later = { jid: 'chat:l', folder: 'later', name: 'Later', triggerWord: null, isMain: false };
  served.assistant.store.chats.see(
    { jid: 'chat:l', channel: 'chat', name: 'Later', isDirect: false },
    1,
  );
  served.assistant.store.groups.register({ ...later, needsTrigger: true }, 1);
  await vi.waitFor(() => expect(told).toContain('patchclaw://memory/later'));
  await client.unsubscribeResource({ uri: 'patchclaw://memory/family' });
  const before = told.length;
  writeFileSync(memory, 'Bob eats no fish again.');
  await served.assistant.chat.say('And on Sunday', { jid: 'chat:f', isDirect: false });
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(before));
  expect(told.slice(before)).not.toContain('patchclaw://memory/family');
  await client.close();
});

test('tools that the owner lists are offered as well, and the client is told what becomes of a call', async () => {
  const tool = (name: string) =>
    defineTool({
      name,
      create: () => ({
        description: 'Says it.',
        isMainOnly: false,
        input: z.unknown(),
        inputSchema: {
          $schema: 'x',
          type: 'object',
          $defs: { a: {} },
          additionalProperties: false,
        },
        async run() {
          if (name === 'say_no') throw new Error('It cannot be said.');
          return 'said';
        },
      }),
    });
  const given = {
    assistantName: 'Andy',
    dataDir: '/nowhere',
    groupsDir: '/nowhere',
    timeZone: 'UTC',
    log: console,
  };
  const context = { ...given, now: Date.now, newId: () => 'x' };
  const { tools } = openTools(['say_it', 'say_no', 'hide_it'].map(tool), {}, context);
  const environment = { MCP_SERVER_TOOLS: 'say_*, nothing' };
  await using served = await serve(new TestProject(), { environment, over: { tools } });
  const client = await connect(served);
  const offered = (await client.listTools()).tools;
  expect(offered.map(({ name }) => name)).toEqual(['say_it', 'say_no', 'read_memory']);
  expect(offered[0]?.inputSchema).toMatchObject({
    $schema: 'x',
    $defs: { a: {} },
    additionalProperties: false,
  });
  const logged: string[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(`${params.level} ${params.logger}: ${params.data}`);
  });
  const call = async (name: string) => (await client.callTool({ name, arguments: {} })).content;
  expect(await call('say_it')).toEqual([{ type: 'text', text: 'said' }]);
  expect(await call('hide_it')).toEqual([{ type: 'text', text: 'There is no tool hide_it.' }]);
  expect(logged).toEqual(['info say_it: Called for Terminal.', 'info say_it: Done.']);
  await client.setLoggingLevel('warning');
  expect(await call('say_no')).toEqual([{ type: 'text', text: 'It cannot be said.' }]);
  expect(logged.slice(2)).toEqual(['warning say_no: The call failed.']);
  await client.close();
});

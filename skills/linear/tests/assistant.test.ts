import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import { ADA, createChannel, settingsOf } from './fixtures.ts';
import { LinearServer } from './linear-server.ts';

const SECRET = 'a-secret-of-more-than-sixteen';

test('issues that come at once get an answer each, from a turn each', async () => {
  await using linear = await new LinearServer().comeUp();
  using project = new TestProject();
  const dataDir = join(project.dir, 'data');
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    return answers(`On ${/ENG-\d/.exec(prompt)?.[0]}.`);
  };
  for (const title of ['One', 'Two', 'Three']) linear.open(ADA, title);
  const channel = createChannel(linear, { dataDir });
  const assistant = await project.start({ agent, over: { channels: [channel] } });
  await linear.until(() => linear.posted.length === 3);
  await assistant.stop();
  const told = linear.posted.map(({ body, issueId }) => [body, issueId]);
  expect(told).toEqual(linear.issues.map(({ identifier, id }) => [`On ${identifier}.`, id]));
  expect(prompts.map((prompt) => prompt.match(/assigns you/g)?.length)).toEqual([1, 1, 1]);
});

test('an issue is worked on: the agent reads it, changes its state, and its answer is a comment', async () => {
  await using linear = await new LinearServer().comeUp();
  using project = new TestProject();
  const dataDir = join(project.dir, 'data');
  // Nothing is found by looking: the webhook alone tells.
  const env = { ...settingsOf(linear), LINEAR_WEBHOOK_SECRET: SECRET, LINEAR_POLL_SECONDS: '3600' };
  const seen: unknown[] = [];
  const agent: AgentScript = async ({ prompt, folder, system, tools }, { onTool }) => {
    seen.push({ prompt, folder, system, tools: tools.map(({ name }) => name) });
    const call = async (name: string, input: unknown) =>
      (await onTool({ folder, name, input })).value;
    seen.push(await call('linear_get_issue', { issue: 'ENG-1' }));
    seen.push(await call('linear_update_issue', { issue: 'ENG-1', state: 'Doing' }));
    seen.push(
      await call('linear_update_issue', { issue: 'ENG-1', state: 'in progress', priority: 'high' }),
    );
    return answers('I have begun.');
  };
  const channel = createChannel(linear, { env, dataDir });
  const assistant = await project.start({ agent, environment: env, over: { channels: [channel] } });
  const issue = linear.open(ADA, 'Water the plants', { description: 'All of them.' });
  const address = join(dataDir, 'http/address');
  await linear.until(() => existsSync(address));
  const url = `${readFileSync(address, 'utf8').trim()}/linear/webhook`;
  const post = async (
    body: string,
    signature = createHmac('sha256', SECRET).update(body).digest('hex'),
  ) => {
    const headers = { 'linear-signature': signature, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    return [response.status, (await response.text()).trim()];
  };
  const body = JSON.stringify({ action: 'create', type: 'Issue', webhookTimestamp: Date.now() });
  const old = JSON.stringify({ webhookTimestamp: Date.now() - 120_000 });
  expect(await post(body, 'ab'.repeat(32))).toEqual([401, 'The signature is wrong.']);
  expect(await post(body, 'short')).toEqual([401, 'The signature is wrong.']);
  expect(await post(old)).toEqual([401, expect.stringContaining('more than a minute old')]);
  expect(await post('{}')).toEqual([401, expect.stringContaining('more than a minute old')]);
  expect(linear.posted).toEqual([]);
  expect(await post(body)).toEqual([200, 'ok']);
  await linear.until(() => linear.posted.length === 1);
  expect(linear.posted[0]).toMatchObject({ body: 'I have begun.', issueId: issue.id });
  expect(issue).toMatchObject({ stateId: 's2', priority: 2 });
  const [turn, read, refused, changed] = seen;
  expect(turn).toMatchObject({
    prompt: expect.stringContaining('Ada (ENG-1): [assigns you ENG-1] Water the plants'),
  });
  expect(turn).toMatchObject({ folder: 'linear-channel' });
  expect(JSON.stringify(turn)).toContain('issues/ENG-123.md');
  expect(turn).toMatchObject({
    tools: expect.arrayContaining(['linear_get_issue', 'linear_update_issue']),
  });
  expect(read).toMatchObject({
    issue: 'ENG-1',
    state: 'Todo',
    states: ['Todo', 'In Progress', 'Done'],
  });
  expect(JSON.stringify(refused)).toContain('There are: Todo, In Progress, Done.');
  expect(JSON.stringify(changed)).toContain('ENG-1 is changed');
  await assistant.stop();
});

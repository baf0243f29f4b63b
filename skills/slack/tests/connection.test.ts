import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test, vi } from 'vitest';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  GENERAL,
  HostEnd,
  inMemory,
  settingsOf,
  startWorkspace,
  stoppedClock,
} from './fixtures.ts';
import type { SlackServer } from './slack-server.ts';

afterAll(() => vi.unstubAllGlobals());

test.concurrent('connecting ends when Slack has said hello', async () => {
  await using slack = await startWorkspace();
  const SLACK_API_URL = slack.url.replace(/\/$/, '');
  await using connected = await connectChannel(slack, { SLACK_API_URL });
  expect(connected.channel.status()).toEqual({ state: 'connected', detail: null });
  expect(connected.host.statuses.map(({ state }) => state)).toEqual(['connecting', 'connected']);
  expect(slack.connections).toBe(1);
});

test.concurrent.each([{ SLACK_BOT_TOKEN: 'xoxb-wrong' }, { SLACK_APP_TOKEN: 'xapp-wrong' }])(
  'with %s Slack refuses the app, and the status says what to check',
  async (env) => {
    await using slack = await startWorkspace();
    await using connected = await connectChannel(slack, env);
    const { channel, host } = connected;
    expect(channel.status()).toMatchObject({
      state: 'refused',
      detail: expect.stringMatching(/invalid_auth.*SLACK_BOT_TOKEN.*SLACK_APP_TOKEN/),
    });
    expect(host.statuses.map(({ state }) => state)).toEqual(['connecting', 'refused']);
  },
);

test.concurrent('when Slack is down at the start, connecting ends with the reason and goes on by itself', async () => {
  await using slack = await startWorkspace();
  await slack.goDown();
  await using connected = await connectChannel(slack);
  const { channel, host } = connected;
  expect(channel.status()).toEqual({
    state: 'connecting',
    detail: expect.stringMatching(
      /cannot be reached \(ECONNREFUSED: nothing listens there;.*\)\. Trying again\.$/,
    ),
  });
  const sending = channel.send({ id: 'm', jid: `slack:${GENERAL}`, text: 'hi' });
  await expect(sending).rejects.toMatchObject({ name: 'SlackError', code: 'UNREACHABLE' });
  await slack.comeUp();
  slack.sendText(ADA, ADA_DIRECT, 'back again');
  await slack.until(() => host.messages.length === 1);
  expect(channel.status()).toEqual({ state: 'connected', detail: null });
});

test.concurrent('an outage loses nothing: what was written meanwhile arrives, in order and once', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { channel, host } = connected;
  slack.sendText(ADA, GENERAL, 'before');
  await slack.until(() => slack.pending.length === 0);
  await slack.goDown();
  await slack.until(() => channel.status().state === 'connecting');
  slack.sendText(ADA, GENERAL, 'during');
  await slack.comeUp();
  slack.sendText(ADA, GENERAL, 'after');
  await slack.until(() => host.messages.length === 3 && slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['before', 'during', 'after']);
  expect(channel.status().state).toBe('connected');
});

test.concurrent('a line that Slack moves to another machine is followed', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { channel, host } = connected;
  slack.recycle();
  slack.sendText(ADA, GENERAL, 'after');
  await slack.until(() => host.messages.length === 1 && channel.status().state === 'connected');
  await slack.until(() => slack.connections === 1);
});

test.concurrent('errors of Slack and pauses that it asks for are waited out', async () => {
  await using slack = await startWorkspace();
  slack.failNext('auth.test', { status: 429, headers: { 'Retry-After': '1' }, body: {} });
  slack.failNext('apps.connections.open', { status: 503, body: {} });
  const clock = stoppedClock();
  await using connected = await connectChannel(slack, {}, clock);
  await slack.until(() => connected.channel.status().state === 'connected');
  expect(clock.pauses).toEqual([1_000, 500]);
  expect(connected.host.statuses.map(({ detail }) => detail)).toEqual([
    null,
    'Slack asks for a pause. Trying again.',
    'Slack cannot be reached (HTTP 503). Trying again.',
    null,
  ]);
});

test.concurrent('the client writes to the log, never to the console', async () => {
  await using slack = await startWorkspace();
  const methods = ['log', 'debug', 'info', 'warn', 'error'] as const;
  const spies = methods.map((method) => vi.spyOn(console, method));
  const { channel, host } = await connectChannel(slack);
  slack.sendText(ADA, GENERAL, 'hello');
  await slack.until(() => slack.pending.length === 0);
  await slack.goDown();
  await slack.until(() => host.log.length > 0);
  await channel.disconnect();
  for (const spy of spies) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});

test.concurrent('a channel that was disconnected can be connected again', async () => {
  await using slack = await startWorkspace();
  const { channel, host } = await connectChannel(slack);
  await channel.disconnect();
  await channel.disconnect();
  expect(channel.status()).toEqual({ state: 'stopped', detail: null });
  await slack.until(() => slack.connections === 0);
  slack.sendText(ADA, ADA_DIRECT, 'anyone?');
  await channel.connect(host);
  await slack.until(() => host.messages.length === 1);
  await channel.disconnect();
  const sending = channel.send({ id: 'm', jid: `slack:${GENERAL}`, text: 'hi' });
  await expect(sending).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
});

test.concurrent('disconnecting does not wait for Slack while it is down', async () => {
  await using slack = await startWorkspace();
  await slack.goDown();
  const { channel } = await connectChannel(slack);
  await channel.disconnect();
  expect(channel.status().state).toBe('stopped');
});

test.concurrent('disconnecting does not wait until Slack says hello, and connecting ends with it', async () => {
  await using slack = await startWorkspace();
  slack.fallSilent(true);
  withoutLongTimers();
  const host = new HostEnd();
  const channel = createChannel(settingsOf(slack), host);
  const connecting = channel?.connect(host);
  await slack.until(() => slack.connections === 1);
  await channel?.disconnect();
  await connecting;
  expect(channel?.status().state).toBe('stopped');
});

test.concurrent('disconnecting right after connecting leaves no line behind', async () => {
  await using slack = await startWorkspace();
  const host = new HostEnd();
  const channel = createChannel(settingsOf(slack), host);
  const connecting = channel?.connect(host);
  await channel?.disconnect();
  await connecting;
  // A line that was left behind would be there before a later channel's.
  await using later = await connectChannel(slack);
  slack.sendText(ADA, ADA_DIRECT, 'anyone?');
  await slack.until(() => later.host.messages.length === 1);
  expect(slack.connections).toBe(1);
  expect(host.messages).toEqual([]);
  expect(channel?.status().state).toBe('stopped');
});

test.concurrent('after disconnecting nothing keeps the process alive', async () => {
  await using slack = await startWorkspace();
  slack.sendText(ADA, GENERAL, 'hello');
  const child = await runScript(
    slack,
    `     const { channel, host } = await connectChannel({ url: process.argv[1] });
     await channel.send({ id: 'm', jid: 'slack:${GENERAL}', text: 'bye' });
     while (host.messages.length === 0) await new Promise((go) => setTimeout(go, 5));
     await channel.disconnect();
     console.log(JSON.stringify({ messages: host.messages.length, status: channel.status() }));`,
  );
  expect(JSON.parse(child.stdout)).toEqual({
    messages: 1,
    status: { state: 'stopped', detail: null },
  });
  expect(child.stderr).toBe('');
  expect(slack.posted.map(({ text }) => text)).toEqual(['bye']);
  expect(slack.pending).toHaveLength(0);
});

/** From now on a timer of ten seconds or more never elapses: whatever waits for one waits for ever. */
function withoutLongTimers(): void {
  const plain = setTimeout;
  vi.stubGlobal('setTimeout', (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    ms < 10_000 ? plain(run, ms, ...args) : plain(() => {}, ms).unref(),
  );
}

/** Runs a script in a process of its own, with the address of Slack as its argument, to its end. */
function runScript(
  slack: SlackServer,
  script: string,
): Promise<{ stdout: string; stderr: string }> {
  const fixtures = `import { connectChannel } from '${import.meta.dirname}/fixtures.ts';`;
  const args = ['--input-type=module', '--eval', `${fixtures}\n${script}`, slack.url];
  return promisify(execFile)(process.execPath, args, { timeout: 60_000 });
}

test.concurrent('what Slack does not send again is asked for: in conversations, in threads, page by page, and after a pause', async () => {
  await using slack = await startWorkspace();
  const disk = inMemory();
  const roots: string[] = [];
  {
    await using connected = await connectChannel(slack, {}, undefined, disk);
    const { host } = connected;
    roots.push(slack.sendText(ADA, GENERAL, 'a question for all'));
    slack.sendText(ADA, ADA_DIRECT, 'before');
    roots.push(slack.sendText(ADA, GENERAL, 'another one'));
    slack.sendText(ADA, GENERAL, 'an answer', { thread_ts: roots[0] });
    await slack.until(() => host.messages.length === 4);
  }
  slack.sendText(EVE, EVE_DIRECT, 'nobody knows me');
  slack.sendText(ADA, ADA_DIRECT, 'first');
  slack.sendText(ADA, GENERAL, 'in a known thread', { thread_ts: roots[0] });
  slack.sendText(EVE, GENERAL, 'I am not allowed');
  slack.sendText(ADA, GENERAL, 'in a thread of its own', { thread_ts: roots[1] });
  slack.sendText(ADA, ADA_DIRECT, 'second');
  slack.sendText(ADA, ADA_DIRECT, 'third');
  // Slack has given up.
  slack.pending.length = 0;
  slack.pageLimit = 2;
  const pause = {
    status: 429,
    headers: { 'Retry-After': '0' },
    body: { ok: false, error: 'ratelimited' },
  };
  slack.failNext('conversations.history', pause);
  const missed = await textsOf(slack, disk, 5);
  expect(missed.toSorted()).toEqual(
    ['first', 'in a known thread', 'in a thread of its own', 'second', 'third'].toSorted(),
  );
  expect(missed.filter((text) => !text.startsWith('in a'))).toEqual(['first', 'second', 'third']);

  // Nothing is fetched twice, and a conversation that the app has left keeps it from nothing.
  slack.removeChannel(GENERAL);
  slack.sendText(ADA, ADA_DIRECT, 'fourth');
  slack.pending.length = 0;
  expect(await textsOf(slack, disk, 1)).toEqual(['fourth']);
});

/** Connects to a workspace with what an earlier channel has left, and returns what it hands over. */
async function textsOf(
  slack: SlackServer,
  disk: ReturnType<typeof inMemory>,
  count: number,
): Promise<readonly string[]> {
  await using connected = await connectChannel(slack, {}, undefined, disk);
  const { host } = connected;
  await slack.until(() => host.messages.length >= count);
  return host.messages.map(({ text }) => text);
}

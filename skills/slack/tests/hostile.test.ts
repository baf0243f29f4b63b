import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { explainFailure, explainSendFailure } from '../../../src/channels/slack/failure.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  GENERAL,
  startWorkspace,
  stoppedClock,
} from './fixtures.ts';

const envelope = (more: object) =>
  JSON.stringify({ envelope_id: 'e1', type: 'events_api', payload: {}, ...more });

test('frames that are no envelopes harm nothing, are not acknowledged, and the next message arrives', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { channel, host } = connected;
  const frames = [
    'null',
    '[]',
    '7',
    '"hello"',
    '{',
    '{}',
    envelope({}),
    envelope({ payload: null }),
    envelope({ payload: { event: null } }),
    envelope({ payload: { event: { type: 'error' } } }),
    envelope({ payload: { event: { type: 'disconnected' } } }),
    envelope({ payload: { event: { type: ['message'] } } }),
    envelope({ type: 'error' }),
    envelope({ type: 'slack_event', payload: { type: 'events_api' } }),
    envelope({ envelope_id: undefined, payload: { event: { type: 'message' } } }),
    envelope({ envelope_id: { a: 1 }, payload: { event: { type: 'message' } } }),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ];
  for (const frame of frames) slack.sendFrame(frame);
  slack.sendText(ADA, ADA_DIRECT, 'still there?');
  await slack.until(() => host.messages.length === 1 && slack.pending.length === 0);
  expect(channel.status().state).toBe('connected');
  expect(slack.strays).toEqual([]);
  const left = host.log.filter(({ message }) => message.includes('not one of its envelopes'));
  expect(left).toHaveLength(frames.length);
});

test('events with parts that make no sense are dropped or read as far as they go', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const deep = Array.from({ length: 2_000 }).reduce<object>((inner) => ({ elements: [inner] }), {});
  const blocks = Array.from({ length: 500 }, () => ({
    type: 'rich_text',
    text: 'x'.repeat(2_000),
  }));
  const message = { type: 'message', channel: ADA_DIRECT, user: ADA, ts: '1.1', text: 'no' };
  for (const broken of [
    { ...message, ts: 'yesterday' },
    { ...message, user: 7 },
    { ...message, channel: null },
    { type: 'reaction_added', user: ADA, reaction: 'x', item: null },
    { type: 'member_joined_channel', user: null, channel: GENERAL },
  ]) {
    slack.push(broken);
  }
  slack.sendText(ADA, ADA_DIRECT, 'huge blocks', { blocks: [...blocks, deep] });
  slack.push({ ...message, ts: '2.1', text: null });
  slack.sendText(ADA, ADA_DIRECT, 'odd files', {
    subtype: 'file_share',
    files: [null, 7, { id: '../../etc' }, { id: 'F1', size: -1, name: 3, mimetype: {}, mode: [] }],
  });
  slack.sendText(ADA, ADA_DIRECT, 'files that are none', { subtype: 'file_share', files: 'F1' });
  await slack.until(() => host.messages.length === 4 && slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual([
    'huge blocks',
    '',
    'odd files',
    'files that are none',
  ]);
  expect(host.messages[2]?.attachments).toEqual([
    { kind: 'document', mimeType: null, sizeBytes: null, name: null },
  ]);
});

test('an event under one envelope id twice, or under two, is one message and acknowledged each time', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const event = { type: 'message', channel: ADA_DIRECT, user: ADA, ts: '5.1', text: 'once' };
  for (const envelope_id of ['same', 'same', 'other']) {
    slack.sendFrame(envelope({ envelope_id, payload: { event } }));
  }
  await slack.until(() => slack.strays.length === 3);
  expect(host.messages.map(({ text }) => text)).toEqual(['once']);
  const acknowledged = slack.strays.map((text) => JSON.parse(text).envelope_id);
  expect(acknowledged.toSorted()).toEqual(['other', 'same', 'same']);
});

test('a line that Slack refreshes, or cuts while a message is being stored, loses and repeats nothing', async () => {
  await using slack = await startWorkspace();
  const clock = stoppedClock();
  await using connected = await connectChannel(slack, {}, clock);
  const { channel, host } = connected;
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const keep = host.onMessage;
  host.onMessage = async (message) => {
    await stored;
    await keep(message);
  };
  slack.sendText(ADA, ADA_DIRECT, 'one');
  for (const reason of ['warning', 'refresh_requested']) {
    const lines = host.statuses.length;
    slack.sendFrame(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'h' } }));
    await slack.until(() => host.statuses.length >= lines + 2);
    expect(channel.status().state).toBe('connected');
  }
  slack.sendText(ADA, ADA_DIRECT, 'two');
  slack.recycle();
  store();
  await slack.until(() => slack.pending.length === 0 && slack.connections === 1);
  await setImmediate();
  expect(host.messages.map(({ text }) => text)).toEqual(['one', 'two']);
});

test('a clock that is wrong is named, and a message meanwhile counts as not sent', () => {
  const error = { original: { name: 'TypeError', cause: { code: 'CERT_NOT_YET_VALID' } } };
  expect(explainFailure(error).status.detail).toContain('look at the clock of this machine');
  expect(explainSendFailure(error)).toMatchObject({ code: 'UNREACHABLE' });
});

import { expect, test } from 'vitest';
import { NO_DATABASES } from '../lib/own-database.ts';
import type { Channel, InboundMessage } from './channel.ts';
import { discoverChannels } from './channels.ts';
import type { ConsoleLine, ConsolePort } from './console-port.ts';
import { channel as definition } from './terminal.ts';

/** The far end: what a supervisor at the other side of the port would see. */
function farEnd(over: Partial<ConsolePort> = {}) {
  const seen: string[] = [];
  let onLine: ((line: ConsoleLine) => void) | null = null;
  const port: ConsolePort = {
    awaiting: null,
    print: async (text, { answersTo, isProgress }) =>
      void seen.push(
        `${isProgress ? 'progress' : 'print'} ${text}${answersTo.length > 0 ? ` for ${answersTo}` : ''}`,
      ),
    draft: async ({ id, text, activity }) => void seen.push(`draft ${id} ${text} ${activity}`),
    dropDraft: async (id) => void seen.push(`dropped ${id}`),
    open(prompt, listener) {
      seen.push(`open ${prompt}`);
      onLine = listener;
    },
    close: () => void seen.push('close'),
    stored: (number) => void seen.push(`stored ${number}`),
    answered: (ids, end) => void seen.push(`${end} ${ids}`),
    asking: (ids, isOpen) => void seen.push(`asking ${ids} ${isOpen}`),
    acknowledged: (number) => void seen.push(`acknowledged ${number}`),
    ...over,
  };
  const type = (number: number, text: string) =>
    onLine?.({ number, id: `run-${number}`, text, typedAt: 5 });
  return { port, seen, type };
}

function create(ownerConsole: ConsolePort | null): Channel | null {
  const log = { info() {}, warn() {} };
  const openDatabase = NO_DATABASES.of('channel', 'terminal');
  const clock = { now: () => 0, random: () => 0, pause: async () => {} };
  const context = { assistantName: 'Andy', dataDir: '/', log, ownerConsole, openDatabase, clock };
  const opened = definition.open({}, context);
  return opened.kind === 'made' ? opened.value : null;
}

function open(port: ConsolePort): Channel {
  const channel = create(port);
  if (channel === null) throw new Error('no terminal');
  return channel;
}

test('a line becomes a message of the owner, and is acknowledged when it is stored', async () => {
  const { port, seen, type } = farEnd();
  const channel = open(port);
  const messages: InboundMessage[] = [];
  await channel.connect({
    onMessage: async (message) => {
      messages.push(message);
      seen.push('storing');
    },
    onChat: async () => {},
    onStatus: () => {},
  });
  type(1, 'hello');
  type(2, 'again');
  await channel.disconnect();
  expect(seen).toEqual(['open > ', 'close', 'storing', 'stored 1', 'storing', 'stored 2']);
  expect(messages[0]).toMatchObject({
    id: 'run-1',
    jid: 'terminal:main',
    isOwner: true,
    isDirect: true,
    text: 'hello',
  });
});

test('a line that cannot be stored is said to be so, and holds nothing up', async () => {
  const { port, seen, type } = farEnd();
  const channel = open(port);
  await channel.connect({
    onMessage: async () => {
      throw new Error('disk full');
    },
    onChat: async () => {},
    onStatus: () => {},
  });
  type(1, 'hello');
  await channel.disconnect();
  expect(seen.slice(1)).toEqual([
    'close',
    'print That could not be stored: disk full for run-1',
    'failed run-1',
    'stored 1',
    'acknowledged 1',
  ]);
});

test('a message that an earlier process stored is acknowledged by the process that answers it', async () => {
  const { port, seen } = farEnd({ awaiting: 7 });
  open(port).chatAcknowledged?.('terminal:main');
  expect(seen).toEqual(['acknowledged 7']);
});

test('an answer goes out as Markdown, with the lines that it answers', async () => {
  const { port, seen } = farEnd();
  const channel = open(port);
  await channel.send({ id: '1', jid: 'terminal:main', text: '**hi**', answersTo: ['run-1'] });
  await channel.send({ id: '2', jid: 'terminal:main', text: 'a reminder' });
  channel.answered?.('terminal:main', ['run-1']);
  const id = 'terminal:main';
  await channel.send({ id: '3', jid: id, text: 'half', answersTo: ['run-1'], isProgress: true });
  expect(seen).toEqual([
    'print **hi** for run-1',
    'print a reminder',
    'answered run-1',
    'progress half for run-1',
  ]);
});

test('the terminal is discovered, and stays away where there is none', async () => {
  const definitions = await discoverChannels();
  expect(definitions.map(({ name }) => name)).toContain('terminal');
  expect(create(null)).toBeNull();
});

import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { endMessage, type MessagePipe, ResumableLink, readHead } from './resumable-link.ts';

/** Two ends with a wire between them that can be cut, and that writes down what passes. */
function wire() {
  const handlers = { home: new Set<Handler>(), worker: new Set<Handler>() };
  const log: string[] = [];
  const state = { isCut: false, drop: (_: string): boolean => false, now: 0 };
  const pipe = (from: Side, to: Side): MessagePipe => ({
    send(message) {
      const line = `${from === 'home' ? '→' : '←'} ${lineOf(message)}`;
      const isLost = state.isCut || state.drop(line);
      log.push(isLost ? `${line}  lost` : line);
      if (!isLost) for (const handler of handlers[to]) handler(Buffer.from(message));
    },
    listen(handler) {
      handlers[from].add(handler);
      return () => handlers[from].delete(handler);
    },
  });
  return { log, state, home: pipe('home', 'worker'), worker: pipe('worker', 'home') };
}

type Side = 'home' | 'worker';
type Handler = (message: Buffer) => boolean;

const KINDS = ['', 'ack', 'probe', 'reply', 'record', 'end'];
const OPERATIONS = ['', 'open', 'bytes', 'finish', 'reset'];

function lineOf(message: Buffer): string {
  const head = readHead(message);
  if (head === null) return 'garbage';
  if (head.kind === 5) return `end ${message.toString('utf8', 7)}`;
  if (head.kind !== 4) return `${KINDS[head.kind]} ${head.ack}`;
  const seq = message.readUIntBE(13, 6);
  const text = message.toString('utf8', 24).slice(0, 20);
  return `${seq} ${OPERATIONS[message[23] ?? 0]} ${text}`.trim();
}

function ends(line: ReturnType<typeof wire>, over: { patienceMs?: number } = {}) {
  const ended: (string | null)[] = [];
  const opened: Duplex[] = [];
  const common = {
    fence: 7,
    patienceMs: 60_000,
    elapsed: () => line.state.now,
    onEnd: (reason: string | null) => void ended.push(reason),
    ...over,
  };
  const onChannel = (channel: Duplex) => void opened.push(channel);
  const home = new ResumableLink({ ...common, pipe: line.home, side: 'home', onChannel });
  const worker = new ResumableLink({ ...common, pipe: line.worker, side: 'worker', onChannel });
  return { home, worker, opened, ended };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

test('frames that were lost are sent again from the last acknowledged one, and come once, in order', async () => {
  const line = wire();
  const { home, worker, opened } = ends(line);
  const turns = home.open();
  turns.write('turn 1\n');
  await settle();
  let heard = '';
  opened[0]?.on('data', (chunk) => {
    heard += String(chunk);
  });
  line.state.isCut = true;
  turns.write('message 2\n');
  turns.write('message 3\n');
  opened[0]?.write('text\n');
  await settle();
  line.state.isCut = false;
  line.state.now = 1_000;
  home.tick();
  worker.tick();
  await settle();
  let said = '';
  turns.on('data', (chunk) => {
    said += String(chunk);
  });
  await settle();
  expect(heard).toBe('turn 1\nmessage 2\nmessage 3\n');
  expect(said).toBe('text\n');
  expect(line.log).toEqual(
    [
      '→ 1 open',
      '→ 2 bytes turn 1',
      '← ack 2',
      '→ 3 bytes message 2  lost',
      '→ 4 bytes message 3  lost',
      '← 1 bytes text  lost',
      // A second later each side asks, and hears what is missing.
      '→ probe 0',
      '← reply 2',
      '→ 3 bytes message 2',
      '→ 4 bytes message 3',
      '← probe 4',
      '→ reply 0',
      '← 1 bytes text',
      '→ ack 1',
    ].map((text) => expect.stringContaining(text)),
  );
});

test('a gap is noticed by the next frame, without a wait', async () => {
  const line = wire();
  const { home, opened } = ends(line);
  const channel = home.open();
  line.state.drop = (text) =>
    text.startsWith('→ 2 ') && !line.log.some((one) => one.includes('→ 3 '));
  channel.write('two');
  await settle();
  channel.write('three');
  await settle();
  expect(opened[0]?.read()?.toString()).toBe('twothree');
  expect(line.log.filter((text) => text.startsWith('→ 2 '))).toHaveLength(2);
});

test('a message under another fencing number is dropped unread', async () => {
  const line = wire();
  const { home, opened, ended } = ends(line);
  const channel = home.open();
  channel.write('mine');
  await settle();
  const forged = Buffer.alloc(30);
  forged[0] = 4;
  forged.writeUIntBE(6, 1, 6);
  forged.writeUIntBE(1, 13, 6);
  line.worker.send(forged);
  line.worker.send(endMessage(6, 'over'));
  line.worker.send(endMessage(8, 'over'));
  line.worker.send(Buffer.from('x'));
  await settle();
  expect(home.isOver).toBe(false);
  expect(opened[0]?.read()?.toString()).toBe('mine');
  line.worker.send(endMessage(7, 'the worker restarted'));
  expect(ended).toEqual(['the worker restarted']);
  expect(channel.destroyed).toBe(true);
});

test('a sender that does not stop is cut off, and a slow reader stops an honest one', async () => {
  const line = wire();
  const { home, opened, worker } = ends(line);
  const channel = home.open();
  let written = 0;
  const piece = Buffer.alloc(1_048_576, 'x');
  for (let index = 0; index < 40; index += 1) {
    channel.write(piece, () => {
      written += 1;
    });
  }
  await settle();
  // Nobody reads: the window and what the reader may hold, not the 40 MB.
  expect(written).toBeLessThan(16);
  expect(worker.isOver).toBe(false);
  let got = 0;
  opened[0]?.on('data', (chunk: Buffer) => {
    got += chunk.length;
  });
  for (let wait = 0; wait < 50 && got < 40 * piece.length; wait += 1) await settle();
  expect(got).toBe(40 * piece.length);

  // One that ignores acknowledgements.
  const rude = wire();
  const { ended } = ends(rude);
  const record = (seq: number, operation: number, size: number) => {
    const message = Buffer.alloc(24 + size);
    message[0] = 4;
    message.writeUIntBE(7, 1, 6);
    message.writeUIntBE(seq, 13, 6);
    message.writeUInt32BE(2, 19);
    message[23] = operation;
    return message;
  };
  rude.worker.send(record(1, 1, 0));
  for (let seq = 2; seq < 30 && ended.length === 0; seq += 1)
    rude.worker.send(record(seq, 2, 1_000_000));
  expect(ended[0]).toBe('it sent more than it may');
});

test('a link ends when nothing was heard for too long', () => {
  const line = wire();
  const { home, ended } = ends(line, { patienceMs: 5_000 });
  line.state.isCut = true;
  const channel = home.open();
  line.state.now = 5_001;
  home.tick();
  expect(ended).toEqual(['nothing was heard for 5 s']);
  expect(channel.destroyed).toBe(true);
});

test('a million bytes over a wire that loses every fifth message arrive whole', async () => {
  const line = wire();
  let count = 0;
  line.state.drop = () => {
    count += 1;
    return count % 5 === 0;
  };
  const { home, worker, opened } = ends(line);
  const channel = home.open();
  const sent = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251));
  channel.end(sent);
  const got: Buffer[] = [];
  for (let wait = 0; wait < 200 && Buffer.concat(got).length < sent.length; wait += 1) {
    line.state.now += 1_000;
    home.tick();
    worker.tick();
    await settle();
    for (;;) {
      const chunk = opened[0]?.read() as Buffer | null | undefined;
      if (chunk === null || chunk === undefined) break;
      got.push(chunk);
    }
  }
  expect(Buffer.concat(got).equals(sent)).toBe(true);
});

/** A home's end whose other side is anything that sends. What the home sends is counted, and most of it is small. */
function homeBefore(
  hostile: (line: ReturnType<typeof wire>) => void,
  onMessage: (isNew: boolean) => void = () => {},
) {
  const line = wire();
  const ended: (string | null)[] = [];
  const home = new ResumableLink({
    pipe: {
      ...line.home,
      listen: (handler) =>
        line.home.listen((message) => {
          const isNew = handler(message);
          onMessage(isNew);
          return isNew;
        }),
    },
    fence: 7,
    side: 'home',
    patienceMs: 60_000,
    elapsed: () => line.state.now,
    onChannel: () => {},
    onEnd: (reason) => void ended.push(reason),
  });
  const channel = home.open();
  channel.write(Buffer.alloc(3_000_000, 'x'));
  const before = line.log.length;
  hostile(line);
  return { home, ended, sent: line.log.slice(before).filter((text) => text.startsWith('→')) };
}

/** A message as a worker may write it. */
function written(kind: number, parts: { ack?: number; seq?: number; bytes?: number } = {}): Buffer {
  const { ack = 0, seq, bytes = 0 } = parts;
  const message = Buffer.alloc(seq === undefined ? 13 : 24 + bytes);
  message[0] = kind;
  message.writeUIntBE(7, 1, 6);
  message.writeUIntBE(ack, 7, 6);
  if (seq === undefined) return message;
  message.writeUIntBE(seq, 13, 6);
  message.writeUInt32BE(2, 19);
  message[23] = seq === 1 ? 1 : 2;
  return message;
}

const FLOOD = 20_000;

describe('a worker that sends without end', () => {
  test('requests to send again: the window goes once, and no more before something is acknowledged', () => {
    const { home, sent } = homeBefore((line) => {
      for (let count = 0; count < FLOOD; count += 1) line.worker.send(written(3));
    });
    expect(home.isOver).toBe(false);
    // 23 records of the window, and some more of them until what may be sent again is used up.
    expect(sent.length).toBeLessThan(64);
  });

  test('an acknowledgement of what was never sent ends the link', () => {
    const { ended } = homeBefore((line) => void line.worker.send(written(1, { ack: 1_000 })));
    expect(ended).toEqual(['it acknowledged what was never sent']);
  });

  test('records that go on although nothing is acknowledged end the link, small ones as well as large ones', () => {
    for (const bytes of [1, 131_072]) {
      const { ended } = homeBefore((line) => {
        line.worker.send(written(4, { seq: 1 }));
        const hasEnded = () => line.log.some((text) => text.startsWith('→ end'));
        for (let seq = 2; seq < 200_000 && (seq % 100 > 0 || !hasEnded()); seq += 1) {
          line.worker.send(written(4, { seq, bytes }));
        }
      });
      expect(ended, `records of ${bytes} bytes`).toEqual(['it sent more than it may']);
    }
  });

  test('of a flood, only what is new counts as worth something', () => {
    const worth: boolean[] = [];
    const said = [
      written(4, { seq: 1 }),
      written(4, { seq: 2, bytes: 5 }),
      written(4, { seq: 2, bytes: 5 }),
      written(4, { seq: 9, bytes: 5 }),
      written(1),
      written(2),
      written(3),
      Buffer.from('garbage'),
    ];
    const { home } = homeBefore(
      (line) => {
        for (const message of said) line.worker.send(message);
      },
      (isNew) => void worth.push(isNew),
    );
    expect(worth).toEqual([false, true, false, false, false, false, false, false]);
    home.close();
  });
});

import { Duplex, PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { openFrameLink } from './frame-link.ts';
import { AgentFrame, type HostFrame } from './frames.ts';
import { MAX_FRAME_BYTES } from './protocol.ts';

test('frames arrive whole however the stream cuts them', async () => {
  const far = farEnd();
  const bytes = Buffer.from('{"type":"text","turn":"1","delta":"Grüße"}\n'.repeat(3));
  for (const byte of bytes) far.incoming.write(Buffer.from([byte]));
  await vi.waitFor(() => expect(far.frames).toHaveLength(3));
  expect(far.frames[2]).toEqual({ type: 'text', turn: '1', delta: 'Grüße' });
});

test.each([
  ['no JSON', 'hello\n'],
  ['JSON that is no frame', '{"type":"nothing"}\n'],
  ['a key too many', '{"type":"ready","protocol":1,"folder":"main"}\n'],
  ['another protocol', '{"type":"ready","protocol":2}\n'],
  ['an empty line', '\n'],
])('%s ends the link once, and nothing after it is read', async (_name, line) => {
  const far = farEnd();
  far.incoming.write(`${line}${line}{"type":"ready","protocol":1}\n`);
  await vi.waitFor(() => expect(far.closes).toBe(1));
  expect(far.garbage).toEqual(['a message that is not in the protocol']);
  expect(far.frames).toEqual([]);
});

test('a line without end is refused as soon as it is too long', async () => {
  const far = farEnd();
  const piece = Buffer.alloc(65_536, 120);
  for (let sent = 0; sent <= MAX_FRAME_BYTES; sent += piece.length) far.incoming.write(piece);
  await vi.waitFor(() => expect(far.closes).toBe(1));
  expect(far.garbage).toEqual([`a message of more than ${MAX_FRAME_BYTES} bytes`]);
});

test('frames without end are read with rests, and none is lost', async () => {
  const far = farEnd();
  const some = Buffer.from('{"type":"alive","turn":"1"}\n'.repeat(600));
  for (let piece = 0; piece < 10; piece += 1) far.incoming.write(some);
  let [mostAtOnce, rests] = [0, 0];
  while (far.frames.length < 6_000) {
    const before = far.frames.length;
    await new Promise((resolve) => setImmediate(resolve));
    mostAtOnce = Math.max(mostAtOnce, far.frames.length - before);
    if (far.frames.length === before) rests += 1;
  }
  // Not all at once, and between two pieces nothing is read for a while.
  expect(mostAtOnce).toBeLessThan(6_000);
  expect(rests).toBeGreaterThan(10);
});

test('a frame too long to be taken is not sent', async () => {
  const far = farEnd();
  const frame = (value: string): HostFrame => ({ type: 'tool_result', id: '1', ok: true, value });
  expect(far.link.send(frame('x'.repeat(MAX_FRAME_BYTES)))).toBe(false);
  expect(far.link.send(frame('x'))).toBe(true);
  expect(String(far.outgoing.read())).toBe(
    '{"type":"tool_result","id":"1","ok":true,"value":"x"}\n',
  );
});

function farEnd() {
  const incoming = new PassThrough();
  const outgoing = new PassThrough();
  const seen = { frames: [] as AgentFrame[], garbage: [] as string[], closes: 0 };
  const link = openFrameLink<AgentFrame, HostFrame>({
    stream: Duplex.from({ readable: incoming, writable: outgoing }),
    schema: AgentFrame,
    onFrame: (frame) => seen.frames.push(frame),
    onGarbage: (reason) => seen.garbage.push(reason),
    onClose: () => {
      seen.closes += 1;
    },
  });
  return Object.assign(seen, { incoming, outgoing, link });
}

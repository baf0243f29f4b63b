import { expect, test, vi } from 'vitest';
import { WhatsAppChannel } from '../channels/whatsapp.ts';
import type { Claw, ClawResult } from '../host/contracts/claw.ts';
import { TestChannel, TestProject, textsOf } from '../testing/assistant.ts';
import { CLOCK } from '../testing/whatsapp/linked-channel.ts';

const RESULT: ClawResult = {
  ok: true,
  outcome: 'done',
  data: { summary: 'Paired with +4915112345678.', phoneNumber: '4915112345678' },
  changes: [],
  conflicts: [],
  warnings: [],
  error: null,
  exitCode: 0,
};

/** A channel that says itself how it is paired, as WhatsApp does. */
function paired(name: string, title: string): TestChannel {
  const channel = new TestChannel(name);
  const { pairing } = new WhatsAppChannel(UNUSED, null);
  channel.pairing = { ...pairing, title };
  return channel;
}

/** Parts of the context that pairing never reads. */
const UNUSED = {
  settings: { assistantName: 'Andy', dataDir: '/', owner: null },
  log: { info() {}, warn() {} },
  clock: CLOCK,
};

/** The owner's phone is the far end; `said` is what the set-up shows before it answers. */
async function pairing(typed: string, { said, result }: { said: string[]; result: ClawResult }) {
  using project = new TestProject();
  const asked: (readonly string[])[] = [];
  const claw: Claw = async (args, onProgress) => {
    asked.push(args);
    for (const line of said) onProgress?.({ kind: 'note', text: line });
    return result;
  };
  const [terminal, whatsapp] = [new TestChannel('terminal'), paired('whatsapp', 'WhatsApp')];
  const parts = { over: { claw, channels: [terminal, whatsapp] } };
  whatsapp.state = { state: 'stopped', detail: null };
  const first = await project.start(parts);
  await terminal.say(typed);
  const count = said.length + (result.ok ? 0 : 1);
  await vi.waitFor(() =>
    expect(terminal.sent.length + project.restarts).toBe(count + Number(result.ok)),
  );
  await first.stop();
  const second = await project.start(parts);
  await vi.waitFor(() => expect(terminal.sent.length).toBe(said.length + 1));
  await second.stop();
  return { asked, texts: textsOf(terminal) };
}

test('the owner pairs from the chat, is shown where the code is, and WhatsApp starts', async () => {
  const said = ['It is at data/whatsapp/pairing.svg and at http://127.0.0.1:1/x'];
  const { asked, texts } = await pairing('/pair', { said, result: RESULT });
  expect(asked).toContainEqual(['setup', '--no-restart', 'whatsapp']);
  expect(texts).toEqual([...said, 'WhatsApp is linked. Paired with +4915112345678.']);
});

test('with a number the code is typed on the phone; what went wrong is said', async () => {
  const error = { code: 'SETUP_REFUSED', message: 'Nobody answered on the phone.' };
  const result = { ...RESULT, ok: false, exitCode: 1, error };
  const { asked, texts } = await pairing('/pair +49 151 1234', {
    said: ['Then type ABCD-EFGH'],
    result,
  });
  expect(asked).toContainEqual(['setup', '--no-restart', 'whatsapp', '--phone=+49 151 1234']);
  expect(texts).toEqual([
    'Then type ABCD-EFGH',
    'WhatsApp was not paired. Nobody answered on the phone.',
  ]);
});

test('a phone that is linked is not asked again', async () => {
  using project = new TestProject();
  const [terminal, whatsapp] = [new TestChannel('terminal'), paired('whatsapp', 'WhatsApp')];
  const assistant = await project.start({ over: { channels: [terminal, whatsapp] } });
  await terminal.say('/pair');
  await vi.waitFor(() => expect(textsOf(terminal)[0]).toContain('paired already (connected)'));
  await assistant.stop();
});

test('text that is not a number is refused, in words of the chat', async () => {
  const error = { code: 'USAGE', message: 'Use: npx claw setup whatsapp [--phone NUMBER]' };
  const result = { ...RESULT, ok: false, exitCode: 2, error };
  const { texts } = await pairing('/pair Ada', { said: [], result });
  expect(texts).toEqual([
    '“Ada” is not a phone number with its country code. Say `/pair` for a QR code, or `/pair +49 151 23456789` for a code to type.',
  ]);
});

test('any channel that says how it is paired is paired; of several the owner names one', async () => {
  using project = new TestProject();
  const asked: (readonly string[])[] = [];
  const claw: Claw = async (args) => {
    asked.push(args);
    return { ...RESULT, ok: false, error: { code: 'SETUP_REFUSED', message: 'Nobody answered.' } };
  };
  const [terminal, signal, threema] = [
    new TestChannel('terminal'),
    paired('signal', 'Signal'),
    paired('threema', 'Threema'),
  ];
  for (const channel of [signal, threema]) channel.state = { state: 'stopped', detail: null };
  const first = await project.start({ over: { claw, channels: [terminal, signal] } });
  await terminal.say('/pair');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(1));
  await terminal.say('/setup');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(2));
  await first.stop();
  const second = await project.start({ over: { claw, channels: [terminal, signal, threema] } });
  for (const [index, line] of ['/pair', '/pair threema +49 151 1234'].entries()) {
    await terminal.say(line);
    await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(index + 3));
  }
  await second.stop();
  const third = await project.start({ over: { claw, channels: [terminal] } });
  await terminal.say('/pair');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(5));
  await third.stop();
  expect(textsOf(terminal)).toEqual([
    'Signal was not paired. Nobody answered.',
    expect.stringContaining('Signal can be linked from here: `/pair`.'),
    'Several channels can be linked. Say `/pair signal` for Signal, `/pair threema` for Threema.',
    'Threema was not paired. Nobody answered.',
    'No channel here is linked with `/pair`. `npx claw setup` in a shell sets up the others.',
  ]);
  expect(asked).toEqual([
    ['setup', '--no-restart', 'signal'],
    ['setup', '--no-restart', 'threema', '--phone=+49 151 1234'],
  ]);
});

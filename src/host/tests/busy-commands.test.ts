import { expect, test, vi } from 'vitest';
import { TestChannel, TestProject, textsOf } from '../../testing/assistant.ts';
import { openClosing } from '../../testing/owner/closing-question.ts';
import type { Claw, ClawResult } from '../contracts/claw.ts';

const DONE: ClawResult = {
  ok: true,
  outcome: 'done',
  data: {},
  changes: [],
  conflicts: [],
  warnings: [],
  error: null,
  exitCode: 0,
};

/** A `claw` whose set-up and plans last until they are interrupted, or the test ends them. */
function lastingClaw() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const claw: Claw = async (args, _onProgress, signal) => {
    if (args[0] !== 'setup' && args[0] !== 'plan') return DONE;
    begun.push(args.join(' '));
    await new Promise<void>((resolve) => {
      ends.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
    const error = { code: 'INTERRUPTED', message: 'It was ended.' };
    return { ...DONE, ok: false, outcome: 'failed', error, exitCode: 130 };
  };
  return { claw, begun, end: () => ends.shift()?.() };
}

async function startBusy(project: TestProject, typed: string) {
  const { claw, begun, end } = lastingClaw();
  const [terminal, whatsapp] = [new TestChannel('terminal'), new TestChannel('whatsapp')];
  whatsapp.pairing = { title: 'WhatsApp', optionsOf: () => [], wrongUse: () => '' };
  whatsapp.state = { state: 'stopped', detail: null };
  const assistant = await project.start({ over: { claw, channels: [terminal, whatsapp] } });
  await terminal.say(typed);
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  const hears = (text: string) => vi.waitFor(() => expect(textsOf(terminal)).toContain(text));
  return { assistant, terminal, begun, end, hears };
}

test('a command that only looks or stops is answered beside a running one; another is told what it waits for', async () => {
  using project = new TestProject();
  const { assistant, terminal, begun, hears } = await startBusy(project, '/pair');
  await terminal.say('/help');
  await terminal.say('/tasks');
  await vi.waitFor(() => expect(textsOf(terminal).join('\n')).toContain('one of these commands'));
  await vi.waitFor(() => expect(textsOf(terminal).join('\n')).toContain('Nothing is scheduled'));

  await terminal.say('/add-greeting');
  await hears('`/pair` is still at work; `/add-greeting` comes after it.');
  expect(begun).toHaveLength(1);

  await terminal.say('/stop');
  await hears('Stopping `/pair`.');
  await hears('Pairing was stopped. Say `/pair` when you want it.');
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  expect(begun[1]).toContain('plan apply greeting');
  await terminal.say('/stop');
  await vi.waitFor(() =>
    expect(textsOf(terminal).at(-1)).toMatch(/^`\/add-greeting` is at work and/),
  );
  expect(project.restarts).toBe(0);
  await assistant.stop();
});

test('a command that runs beside another one still waits for no agent and holds none up', async () => {
  using project = new TestProject();
  const { assistant, terminal, end, hears } = await startBusy(project, '/pair');
  await terminal.say('hello');
  await hears('pong');
  await terminal.say('/retry');
  await hears('`/pair` is still at work; `/retry` comes after it.');
  end();
  await hears('WhatsApp was not paired. It was ended.');
  await hears('Nothing has failed that could be tried again.');
  await assistant.stop();
});

test('a look leaves an open question open; other talk withdraws it', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { terminal, store } = assistant;
  openClosing(store, { text: 'Restart?', declined: 'Not restarted.', run: '/restart' });
  await terminal.say('/tasks');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(1));
  expect(store.asks.inChat('terminal:main')).toHaveLength(1);

  await terminal.say('/nonsense');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(3));
  expect(textsOf(terminal)).toContain('Not restarted.');
  expect(store.asks.inChat('terminal:main')).toEqual([]);
  await assistant.stop();
});

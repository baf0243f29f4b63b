import { expect, test } from 'vitest';
import { ANSWER_ENDS } from '../lib/answer-end.ts';
import { type Client, openClients } from './clients.ts';
import { type Lines, openLines } from './lines.ts';

function conversation() {
  const seen: string[] = [];
  const clients = openClients(() => lines);
  const lines: Lines = openLines({
    runId: 'run',
    now: () => 1,
    onChange: () => clients.refresh(),
  });
  const join = (name: string, isWatching: boolean): Client => {
    const client: Client = {
      isOneByOne: false,
      asked: () => {},
      isWatching,
      print: (text) => void seen.push(`${name}: ${text}`),
      progress: (text) => void seen.push(`${name} on the way: ${text}`),
      grow: (piece) => void seen.push(`${name} sees ${piece?.text ?? 'it dropped'}`),
      notice: (text) => void seen.push(`${name} notes: ${text}`),
      setActivity: (activity) => void seen.push(`${name} sees ${activity}`),
      acknowledged: () => {},
    };
    clients.join(client);
    return client;
  };
  clients.setName('Andy');
  return { seen, clients, lines, join };
}

test('the mark of typing stays until the last thing said is answered, whatever is answered before', () => {
  const { seen, clients, lines, join } = conversation();
  const owner = join('owner', true);
  lines.attach(() => {});
  lines.add(owner, 'think');
  lines.add(owner, '/groups');
  lines.stored(2);
  clients.print({ text: 'groups', answersTo: ['run-2'], isProgress: false });
  lines.answered(['run-2'], 'answered');
  expect(seen).toEqual(['owner sees Andy is typing', 'owner: groups']);
  clients.setPhase('Restarting');
  clients.setPhase(null);
  lines.acknowledged(2);
  expect(seen.slice(2)).toEqual([
    'owner sees Restarting',
    'owner sees Andy is typing',
    'owner sees null',
  ]);
});

/** Orders of what a person says and hears; `>` is said, `<` is answered, `…` grows. */
const TALKS: readonly (readonly [
  name: string,
  talk: readonly string[],
  heard: readonly string[],
])[] = [
  ['one after the other', ['>1', '<1', '>2', '<2'], ['answer 1', 'answer 2']],
  ['in their order', ['>1', '>2', '<1', '<2'], ['Answer to: line 1', 'answer 1', 'answer 2']],
  ['the later first', ['>1', '>2', '<2', '<1'], ['answer 2', 'Answer to: line 1', 'answer 1']],
  ['two texts for one', ['>1', '>2', '=1', '<1'], ['Answer to: line 1', 'answer 1', 'answer 1']],
  [
    'another answer between two texts',
    ['>1', '>2', '=1', '<2', '<1'],
    ['Answer to: line 1', 'answer 1', 'answer 2', 'Answer to: line 1', 'answer 1'],
  ],
  ['one that grows', ['>1', '>2', '…1', '…1', '<1'], ['Answer to: line 1', '…', '…', 'answer 1']],
  ['one that grew before', ['>1', '…1', '>2', '…1', '<1'], ['…', '…', 'answer 1']],
];

test.each(TALKS)(
  'a person sees which line is answered, and no more than needed: %s',
  (_, talk, heard) => {
    const { seen, clients, lines, join } = conversation();
    const owner = join('owner', true);
    lines.attach(() => {});
    for (const step of talk) {
      const [does, number] = [step[0], step.slice(1)];
      const answersTo = [`run-${number}`];
      const replaces = talk.includes(`…${number}`) ? 'draft' : null;
      if (does === '>') lines.add(owner, `line ${number}`);
      if (does === '…') {
        clients.draft({ id: 'draft', from: 0, text: '…', activity: null, answersTo });
      }
      if (does === '<' || does === '=') {
        clients.print({ text: `answer ${number}`, answersTo, isProgress: false, replaces });
      }
      if (does === '<') lines.answered(answersTo, 'answered');
    }
    const texts = seen.filter((text) => !/ sees (Andy|null)/.test(text));
    expect(texts.map((text) => text.replace(/^owner( notes:|:| sees) /, ''))).toEqual(heard);
  },
);

test('a question of several lines is named in one, and a pipe or another shell is told none', () => {
  const { seen, clients, lines, join } = conversation();
  const piped = { ...join('pipe', true), isOneByOne: true };
  clients.join(piped);
  const shell = join('shell', false);
  const owner = join('owner', true);
  lines.attach(() => {});
  lines.add(shell, 'a');
  lines.add(owner, `first\nsecond ${'x'.repeat(80)}`);
  lines.add(owner, 'b');
  lines.add(shell, 'c');
  clients.print({ text: 'done', answersTo: ['run-1', 'run-2'], isProgress: false });
  const notes = seen.filter((text) => text.includes('notes:'));
  expect(notes).toEqual([`owner notes: Answer to: first second ${'x'.repeat(46)}…`]);
});

test('an answer goes to whoever asked, and what nobody asked for to those who watch', () => {
  const { seen, clients, lines, join } = conversation();
  join('owner', true);
  const shell = join('shell', false);
  join('session', true);
  lines.attach(() => {});
  lines.add(shell, '/groups');
  seen.length = 0;
  clients.print({ text: 'half', answersTo: ['run-1'], isProgress: true });
  clients.print({ text: 'answer', answersTo: ['run-1'], isProgress: false });
  clients.print({ text: 'reminder', answersTo: [], isProgress: false });
  expect(seen).toEqual([
    'shell on the way: half',
    'shell: answer',
    'owner: reminder',
    'session: reminder',
  ]);
  clients.leave(shell);
  seen.length = 0;
  clients.print({ text: 'late answer', answersTo: ['run-1'], isProgress: false });
  expect(seen).toEqual(['owner: late answer', 'session: late answer']);
});

test.each(ANSWER_ENDS)(
  'a turn that ends as %s without a text is told in words to whoever asked',
  (end) => {
    for (const isWatching of [true, false]) {
      const { seen, clients, lines, join } = conversation();
      const asker = join('asker', isWatching);
      join('other', true);
      lines.attach(() => {});
      lines.add(asker, 'think');
      clients.ended(['run-1'], end);
      lines.answered(['run-1'], end);
      const words = seen.filter((text) => text.startsWith('asker: '));
      expect(words).toEqual(
        end === 'answered' ? [] : [expect.stringMatching(/^asker: There is no answer: /)],
      );
      expect(seen.filter((text) => text.startsWith('other: '))).toEqual([]);
    }
  },
);

test('the end of a turn is not told twice: after its text, or to whoever has said /stop', () => {
  const { seen, clients, lines, join } = conversation();
  const asker = join('asker', false);
  lines.attach(() => {});
  lines.add(asker, 'think');
  clients.print({ text: 'It broke.', answersTo: ['run-1'], isProgress: false });
  clients.ended(['run-1'], 'failed');
  lines.answered(['run-1'], 'failed');
  lines.add(asker, 'think');
  lines.add(asker, '/stop');
  clients.ended(['run-2'], 'stopped');
  lines.answered(['run-2'], 'stopped');
  clients.print({ text: 'Stopped.', answersTo: ['run-3'], isProgress: false });
  lines.answered(['run-3'], 'answered');
  // What was seen before counts no more.
  lines.add(asker, 'think');
  clients.ended(['run-4'], 'stopped');
  lines.answered(['run-4'], 'stopped');
  expect(seen.filter((text) => text.startsWith('asker: '))).toEqual([
    'asker: It broke.',
    'asker: Stopped.',
    'asker: There is no answer: the turn was stopped.',
  ]);
});

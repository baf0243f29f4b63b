import { expect, test } from 'vitest';
import { ANSWER_ENDS } from '../../lib/answer-end.ts';
import { type Client, openClients } from '../clients.ts';
import { type Lines, openLines } from '../lines.ts';

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
      notice: () => {},
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

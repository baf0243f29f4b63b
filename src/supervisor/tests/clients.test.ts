import { expect, test } from 'vitest';
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
  lines.answered(['run-2']);
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

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { copyDatabase } from '../../../store/backup/database-copy.ts';
import { BERT, linkToAnna, unlink } from '../../../testing/whatsapp/linked-to-anna.ts';
import { compareLinks } from './link-comparison.ts';

test('the newer of two copies of a link is recognised by the keys that were used', async () => {
  const { server, linked, anna } = await linkToAnna();
  const live = join(linked.dataDir, 'whatsapp/link.db');
  const copy = async (name: string): Promise<string> => {
    const path = join(linked.dataDir, name);
    await copyDatabase(live, path);
    return path;
  };
  /** Copies it once it is newer than before: what was heard is written a moment later. */
  const newerThan = async (before: string, name: string): Promise<string> => {
    await vi.waitFor(async () => expect(compareLinks(await copy(name), before)).toBe('older'));
    return join(linked.dataDir, name);
  };
  const heard = (count: number) => linked.until(() => linked.messages.length >= count);
  await server.say(anna, 'one');
  await heard(1);
  const first = await copy('first.db');
  const again = await copy('again.db');
  expect(compareLinks(first, again)).toBe('same');
  // A message that came in.
  await server.say(anna, 'two');
  await heard(2);
  const second = await newerThan(first, 'second.db');
  expect(compareLinks(first, second)).toBe('newer');
  // One that went out.
  await linked.channel.send({ id: 'm1', jid: anna.pn, text: 'hello' });
  const third = await newerThan(second, 'third.db');
  expect(compareLinks(first, third)).toBe('newer');
  // One in a group, of somebody who was never heard before.
  const bert = server.person(BERT);
  const group = server.group({
    ...{ jid: '120363000000000001@g.us', subject: 'Family', addressing: 'lid' as const },
    members: [anna, bert],
  });
  await server.say(bert, 'in the group', { group });
  await heard(3);
  const fourth = await newerThan(third, 'fourth.db');
  await server.say(bert, 'again in the group', { group });
  await heard(4);
  const fifth = await newerThan(fourth, 'fifth.db');
  // The files as a kill leaves them: part of it is in the log, which has no index.
  const killed = join(linked.dataDir, 'killed.db');
  for (const end of ['', '-wal']) copyFileSync(live + end, killed + end);
  expect(compareLinks(killed, fifth)).toBe('same');
  expect(compareLinks(killed, fourth)).toBe('older');
  // Two copies that were both used: here one of them has a key of its own.
  const strange = new Database(first);
  strange
    .prepare("INSERT INTO keys VALUES ('app-state-sync-version', 'regular', '{\"version\":7}')")
    .run();
  strange.close();
  expect(compareLinks(fifth, first)).toBe('both went on');
  const other = await linkToAnna();
  expect(compareLinks(fifth, join(other.linked.dataDir, 'whatsapp/link.db'))).toBe('unreadable');
  await other.linked.channel.disconnect();
  expect(compareLinks(fifth, join(other.linked.dataDir, 'whatsapp/link.db'))).toBe(
    'another device',
  );
  const empty = new Database(again);
  empty.exec('DELETE FROM credentials');
  empty.close();
  expect(compareLinks(again, fifth)).toBe('not paired');
  writeFileSync(again, 'no database');
  expect(compareLinks(again, fifth)).toBe('unreadable');
  await unlink(other);
  await unlink({ server, linked });
});

import { expect, test } from 'vitest';
import type { Group } from '../../store/store.ts';
import { namedGroup } from './named-group.ts';

const group = (folder: string, name: string, isMain = false): Group => ({
  jid: `chat:${folder}`,
  folder,
  name,
  needsTrigger: false,
  triggerWord: null,
  isMain,
});
const main = group('main', 'Terminal', true);
const family = group('family', 'Family');

function find(groups: readonly Group[], caller: Group, wanted: string): string {
  const store = { groups: { all: () => groups } };
  const parts = { caller, store } as unknown as Parameters<typeof namedGroup>[0];
  return namedGroup(parts, wanted, 'This chat may write to itself only.').jid;
}

test('a chat that calls itself by another’s folder, or by the owner’s, gets nothing of theirs', () => {
  const thief = group('thief', 'family');
  const impostor = group('impostor', 'main');
  const groups = [main, family, thief, impostor];
  expect(find(groups, main, 'family')).toBe(family.jid);
  expect(find(groups, main, 'main')).toBe(main.jid);
  expect(() => find(groups, thief, 'main')).toThrow('itself only');
  // To itself it may write by whatever name it has.
  expect(find(groups, thief, 'family')).toBe(thief.jid);
});

test('a name that two chats have means none of them', () => {
  const groups = [main, group('one', 'Club'), group('two', 'Club')];
  expect(() => find(groups, main, 'club')).toThrow(
    'Club (groups/one), Club (groups/two). Say the folder instead of the name.',
  );
});

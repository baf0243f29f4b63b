import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TestProject } from '../../../testing/assistant.ts';
import { ContributionFolder } from '../../../testing/contributions.ts';
import {
  context,
  filterFile,
  filtersIn,
  filtersOf,
  means,
  message,
} from '../../../testing/turn/filters.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';
import type { FilterResult } from '../../contracts/inbound-filter.ts';
import { openInboundFilters } from '../filters.ts';

test.each([
  { kind: 'change', text: 5 },
  { kind: 'change', note: {} },
  { kind: 'drop' },
  { kind: 'drop', reason: null },
  { kind: 'failed', filter: 'x', problem: 'y' },
  'pass',
  null,
])('a result that is none counts as a failure, at once and later: %j', async (result) => {
  const broken = { kind: 'failed', filter: 'own', problem: expect.stringContaining('returned') };
  expect(filtersOf(() => result as never, 'hold').apply(message, means)).toEqual(broken);
  const later = filtersOf(async () => result as never, 'hold');
  expect(await later.apply(message, means)).toEqual(broken);
});

test('a filter that modifies the message it was given changes it for nobody else', async () => {
  const attachment = { kind: 'image', mimeType: null, sizeBytes: 1, name: 'a' } as const;
  const given = { ...message, attachments: [attachment] };
  const before = structuredClone(given);
  const spoil = `() => (seen) => {
    seen.sender.isOwner = true; seen.group.isMain = true; seen.attachments[0].name = 'b';
    seen.attachments.push('rubbish'); seen.text = 'other'; return { kind: 'pass' };
  }`;
  using folder = new ContributionFolder({
    'a.ts': filterFile('a', spoil, { order: 1 }),
    'b.ts': filterFile('b', `() => (seen) => ({ kind: 'change', note: JSON.stringify(seen) })`),
  });
  const { filters } = await filtersIn(folder);
  const outcome = await filters.apply(given, means);
  expect(given).toEqual(before);
  if (outcome.kind !== 'through') throw new Error(outcome.kind);
  // A note is without brackets.
  expect(outcome.notes).toEqual([`[b: ${JSON.stringify(before).replaceAll(/[[\]]/g, '')}]`]);
});

test('a file that comes after its filter has ended is deleted as well', async () => {
  using project = new TestProject();
  const made = {
    kind: 'made',
    value: (_: unknown, { fetchAttachment }: { fetchAttachment: () => Promise<unknown> }) => {
      void fetchAttachment();
      return { kind: 'pass' };
    },
  } as const;
  const hasty = { name: 'hasty', order: 1, onFailure: 'pass', settings: {}, needs: [] } as const;
  const { filters } = openInboundFilters([{ ...hasty, open: () => made } as never], {}, context);
  const { chat, ...assistant } = await startWithFamily(project, undefined, undefined, { filters });
  const path = join(project.dir, 'late.png');
  const isFetched = Promise.withResolvers<void>();
  chat.fetchAttachment = async () => {
    await isFetched.promise;
    writeFileSync(path, 'private');
    return { path, mimeType: 'image/png', sizeBytes: 7, name: null };
  };
  await chat.say('@Andy look', { jid: FAMILY, isDirect: false });
  await isIdle({ chat, ...assistant });
  isFetched.resolve();
  await setImmediate();
  expect(existsSync(path)).toBe(false);
  await assistant.stop();
});

test('with its group goes what waits there: no byte of it stays on disk', async () => {
  using project = new TestProject();
  const filters = filtersOf(() => new Promise<FilterResult>(() => {}));
  const assistant = await startWithFamily(project, undefined, undefined, { filters });
  const { chat, store } = assistant;
  for (const number of [1, 2, 3]) {
    await chat.say(`MARKER-${number}`, { jid: FAMILY, isDirect: false });
  }
  expect(store.heldMessages.counted()).toEqual([{ problem: null, messages: 3 }]);
  const marked = () =>
    readdirSync(project.dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => readFileSync(path).includes('MARKER-'));
  expect(marked()).not.toEqual([]);
  store.removeGroup(FAMILY);
  expect(store.heldMessages.counted()).toEqual([]);
  expect(marked()).toEqual([]);
  await assistant.stop();
  expect(marked()).toEqual([]);
});

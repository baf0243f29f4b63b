import { expect, test } from 'vitest';
import { discoverInboundFilters } from '../../../src/host/contracts/inbound-filter.ts';
import { openInboundFilters } from '../../../src/host/inbound-path/filters.ts';

test('a chain letter is dropped, one that may be one is marked, and the owner is heard as they are', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const parts = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'UTC', log };
  const context = { ...parts, now: () => 0, newId: () => 'id' };
  const environment = { CHAIN_LETTER_WORDS: 'unlucky, Maledict' };
  const { filters } = openInboundFilters(await discoverInboundFilters(), environment, context);
  const apply = (text: string, isOwner = false) =>
    filters.apply(
      {
        id: 'm1',
        channel: 'chat',
        group: { name: 'Family', folder: 'family', isMain: false },
        isDirect: false,
        sender: { id: 'bob', name: 'Bob', isOwner },
        text,
        sentAt: 0,
        isContext: false,
        attachments: [],
      },
      {
        signal: new AbortController().signal,
        setTimer: () => () => {},
        fetchAttachment: () => Promise.reject(new Error('no file')),
        pay: () => true,
      },
    );
  const dropped = { kind: 'dropped', filter: 'chain-letters', reason: 'a chain letter' };
  expect(apply('Else MALEDICTION comes.')).toEqual(dropped);
  expect(apply('Else malediction comes.', true)).toMatchObject({ kind: 'through', notes: [] });
  const marked = '[chain-letters: It asks to be sent on, which only the owner may ask for.]';
  expect(apply('Send this to ten friends 🙂')).toEqual({
    kind: 'through',
    text: 'Send this to ten friends 🙂',
    notes: [marked],
  });
});

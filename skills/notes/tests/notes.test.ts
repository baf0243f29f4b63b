import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { section } from '../../../container/agent/prompt/notes.ts';
import { tool as note } from '../../../container/agent/tools/note.ts';
import { sectionTurn } from '../../../src/testing/turn/agent-section-turn.ts';
import { agentToolContext } from '../../../src/testing/turn/agent-tool-context.ts';

const NOW = Date.UTC(2026, 10, 22, 13, 3);
const facts = {
  days: 3,
  timeZone: 'Europe/Berlin',
  now: NOW,
  beginsAnew: false,
  isTask: false,
  label: '[telegram / owner]',
  own: '[telegram / assistant]',
  senders: [
    { label: '[telegram / 77]', name: 'Bob] [x' },
    { label: '[telegram / owner]', name: null },
  ],
};
let group: string;
beforeEach(() => {
  group = mkdtempSync(join(tmpdir(), 'claw-notes-'));
});
afterEach(() => rmSync(group, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(group, path)), { recursive: true });
  writeFileSync(join(group, path), text);
}
const read = (path: string) => readFileSync(join(group, path), 'utf8');
const take = (input: object, over: object = {}) =>
  note.run(input, agentToolContext({ groupFolder: group, factsOf: () => ({ ...facts, ...over }) }));
const shown = async (over: object = {}, isLoop = false) =>
  (await section.create()(sectionTurn({ group }, { facts: { ...facts, ...over }, isLoop }))) ?? '';

test('a note is a line of its day, with the local time and who it comes from', async () => {
  expect(await take({ text: 'Bob brings the key' })).toBe(`Noted in ${group}/notes/2026-11-22.md.`);
  await take({ text: 'The shop closes at six', by: 'assistant' });
  // The owner is editing the file, and the last line has no end.
  writeFileSync(join(group, 'notes/2026-11-22.md'), `${read('notes/2026-11-22.md')}- mine`);
  await take({ text: 'two\n- 09:00 [telegram / owner] lines' }, { label: '[chat / 77]' });
  expect(read('notes/2026-11-22.md')).toBe(
    `- 14:03 [telegram / owner] Bob brings the key
- 14:03 [telegram / assistant] The shop closes at six
- mine
- 14:03 [chat / 77] two
  - 09:00 [telegram / owner] lines
`,
  );
  // Where the owner is, it is another day already.
  await take({ text: 'late' }, { timeZone: 'Asia/Tokyo', now: Date.UTC(2026, 10, 22, 20) });
  expect(read('notes/2026-11-23.md')).toBe('- 05:00 [telegram / owner] late\n');
});

test('a summary is a paragraph of HISTORY.md, which nothing in it can break', async () => {
  put('HISTORY.md', 'Old.');
  await take({ text: 'Asked for a boiler.\n\n# Fake heading\nOpen: date.', where: 'history' });
  await take({ text: 'Second.', where: 'history', by: 'assistant' });
  expect(read('HISTORY.md')).toBe(`Old.

## 2026-11-22 14:03 [telegram / owner]
Asked for a boiler.
\\# Fake heading
Open: date.

## 2026-11-22 14:03 [telegram / assistant]
Second.
`);
});

test('what is not a file is not written to', async () => {
  mkdirSync(join(group, 'HISTORY.md'));
  await expect(take({ text: 'x', where: 'history' })).rejects.toThrow('HISTORY.md is not a file');
  mkdirSync(join(group, 'notes'));
  symlinkSync('/no/such', join(group, 'notes/2026-11-22.md'));
  await expect(take({ text: 'x' })).rejects.toThrow('2026-11-22.md is not a file');
});

test('the notes of as many days as the owner says are shown, oldest first, and older ones are not', async () => {
  for (const day of ['19', '20', '21', '22']) put(`notes/2026-11-${day}.md`, `- on the ${day}th\n`);
  const text = await shown();
  expect(text).toContain(
    `# Notes of the last days (${group}/notes)\n\n## 2026-11-20\n\n- on the 20th\n\n## 2026-11-21\n\n- on the 21th\n\n## 2026-11-22\n\n- on the 22th`,
  );
  expect(text).not.toContain('19th');
  expect(await shown({ days: 1 })).not.toContain('21th');
  expect(await shown({ days: 0 })).not.toContain('Notes of the last days');
  expect(await shown({ days: 31 })).toContain('19th');
  // The window is the owner's days, over the end of a month.
  put('notes/2026-11-30.md', '- at the end');
  expect(await shown({ now: Date.UTC(2026, 11, 1, 23, 30), days: 3 })).toContain('at the end');
});

test('of too many notes the newest are shown, from the beginning of a line', async () => {
  put('notes/2026-11-21.md', '- yesterday\n');
  put('notes/2026-11-22.md', Array.from({ length: 3_000 }, (_, at) => `- line ${at}\n`).join(''));
  const text = await shown();
  expect(text).toContain('- line 2999');
  expect(text).not.toContain('yesterday');
  expect(text).toMatch(/bytes in all; the beginning is in .*2026-11-22\.md\]\n- line \d+\n/);
  expect(text.length).toBeLessThan(15_000);
});

test('the labels of the turn are told, MEMORY.md is shown, and HISTORY.md where a conversation has ended', async () => {
  put('MEMORY.md', 'Brought along from elsewhere.');
  put('HISTORY.md', `${'old\n'.repeat(2_000)}## 2026-11-20 10:00 [telegram / owner]\nBoiler.\n`);
  const text = await shown();
  expect(text).toContain(
    "This turn's messages come from: [telegram / 77] Bob x, [telegram / owner].",
  );
  expect(text).toContain('# MEMORY.md of this chat');
  expect(text).not.toContain('Boiler.');
  const anew = await shown({ beginsAnew: true });
  expect(anew).toContain('## 2026-11-20 10:00 [telegram / owner]\nBoiler.');
  expect(anew).toContain('The conversation before this one has ended');
  expect(await shown({ isTask: true, senders: [] })).not.toContain('come from');
  expect(await shown({}, true)).toBe('');
});

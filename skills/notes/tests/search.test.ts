import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { searchParagraphs } from '../../../container/agent/notes/paragraphs.ts';
import { tool } from '../../../container/agent/tools/search-notes.ts';
import { agentToolContext } from '../../../src/testing/turn/agent-tool-context.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-search-notes-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}
async function find(query: string): Promise<readonly string[]> {
  const { found } = await searchParagraphs(
    { files: [], folders: [dir, join(dir, 'notes')] },
    query,
  );
  return found.map(({ path, line, text }) => `${path.slice(dir.length + 1)}:${line} ${text}`);
}

test('paragraphs with the most of the words come first, then those of the newest day', async () => {
  put('HISTORY.md', '# A\n\nThe boiler\nof Müller.\n\nNothing here.\n');
  put('notes/2026-11-20.md', '- boiler broken\n- tea\n');
  put('notes/2026-11-21.md', '- the BOILER again\n  with details\n1. Muller calls\n');
  expect(await find('muller boiler')).toEqual([
    'HISTORY.md:1 # A\nThe boiler\nof Müller.',
    'notes/2026-11-21.md:3 1. Muller calls',
    'notes/2026-11-21.md:1 - the BOILER again\n  with details',
    'notes/2026-11-20.md:1 - boiler broken',
  ]);
  expect(await find('büro')).toEqual([]);
  expect(await find('?!')).toEqual([]);
});

test('line ends of other systems, links, pipes of bytes and huge files do not stop it', async () => {
  put('a.md', 'one fish\r\n\r\ntwo fish\r\n');
  put('b.txt', 'three fish');
  symlinkSync('/etc/passwd', join(dir, 'c.md'));
  put('d.md', `${'x'.repeat(5_000_000)}\n\nlast fish\n`);
  put('e.md', `fish ${'long '.repeat(1_000)}`);
  const found = await find('fish');
  expect(found.map((one) => one.slice(0, 20))).toEqual([
    'a.md:3 two fish',
    'a.md:1 one fish',
    'd.md:3 last fish',
    expect.stringMatching(/^e\.md:1 fish long/),
  ]);
  expect(found.at(-1)?.length).toBeLessThan(750);
});

test('a paragraph with marks in a disordered row is found', async () => {
  put('a.md', `fish ${'\u0301\u0316'.repeat(100_000)}`);
  expect(await find('fish')).toHaveLength(1);
});

test('of words that are in each paragraph of many files the best are kept, and no file with them', async () => {
  const text = 'the fish and the boiler\n\n';
  for (let at = 10; at < 49; at += 1) put(`notes/2026-10-${at}.md`, text.repeat(1_000));
  put('notes/2026-10-49.md', text.repeat(40_000));
  const folders = [join(dir, 'notes')];
  const { found, more } = await searchParagraphs({ files: [], folders }, 'fish');
  expect(found).toHaveLength(50);
  expect(found[0]).toMatchObject({ path: join(dir, 'notes/2026-10-49.md'), line: 79_999 });
  expect(more).toBe(39 * 1_000 + 40_000 - 50);
});

test('the tool names file and line, and how many more there are', async () => {
  put('CLAUDE.md', '- Bob eats no fish\n');
  put('notes/2026-11-20.md', '- fish for Bob\n- fish for Eve\n');
  const context = agentToolContext({ groupFolder: dir });
  expect(await tool.run({ query: 'bob fish', limit: 2 }, context)).toBe(
    `${dir}/notes/2026-11-20.md:1\n- fish for Bob\n\n${dir}/CLAUDE.md:1\n- Bob eats no fish\n\n(and 1 more; use more words)`,
  );
  expect(await tool.run({ query: 'nowhere' }, context)).toContain('Nothing was found.');
});

test('a thousand days of notes are searched', async () => {
  for (let at = 0; at < 1_000; at += 1) {
    const day = new Date(Date.UTC(2015, 0, 1 + at)).toISOString().slice(0, 10);
    put(`notes/${day}.md`, `- note ${at}\n- ${at === 3 ? 'the needle' : 'hay'}\n`);
  }
  expect(await find('needle')).toEqual(['notes/2015-01-04.md:2 - the needle']);
});

test('what cannot be read is named, and is not taken for empty', async () => {
  put('CLAUDE.md', '- Bob eats no fish\n');
  put('secret.md', '- fish\n');
  // A name that is longer than any file may have is refused to everybody, root included.
  const long = `${dir}/${'n'.repeat(300)}.md`;
  expect(await searchParagraphs({ files: [long], folders: [dir] }, 'fish')).toMatchObject({
    found: [{ path: `${dir}/secret.md` }, { path: `${dir}/CLAUDE.md` }].sort((a, b) =>
      a.path.localeCompare(b.path),
    ),
    unread: [long],
  });
  expect(
    await searchParagraphs({ files: [`${dir}/none.md`, `${dir}/a\0b.md`], folders: [] }, 'x'),
  ).toEqual({
    found: [],
    more: 0,
    unread: [`${dir}/a\0b.md`],
  });
  put('notes', 'a file where the folder should be');
  const said = await tool.run({ query: 'nowhere' }, agentToolContext({ groupFolder: dir }));
  expect(said).toContain('Nothing was found.');
  expect(said).toContain(`cannot be read: ${dir}/notes. Tell the owner`);
});

test('no more than a few files are open at once', async () => {
  for (let at = 0; at < 600; at += 1) put(`n-${at}.md`, `- needle ${at}\n`);
  const most = { open: 0 };
  const watch = setInterval(() => {
    most.open = Math.max(most.open, readdirSync('/proc/self/fd').length);
  }, 0);
  const before = readdirSync('/proc/self/fd').length;
  const { found, more } = await searchParagraphs({ files: [], folders: [dir] }, 'needle');
  expect(found.length + more).toBe(600);
  clearInterval(watch);
  expect(most.open - before).toBeLessThan(60);
});

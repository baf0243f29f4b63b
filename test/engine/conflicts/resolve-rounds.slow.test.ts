import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join('');

/** The lines with some of them changed, by their numbers. */
function changed(words: Readonly<Record<number, string>>): string {
  return Object.entries(words).reduce(
    (text, [at, word]) => text.replace(`line ${at}\n`, `${word}\n`),
    LINES,
  );
}

/** Skills by name, each with the lines that it changes in `a.txt`. */
function codebaseWith(
  skills: Readonly<Record<string, Readonly<Record<number, string>>>>,
): Codebase {
  const codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': LINES }, { git: true });
  for (const [name, words] of Object.entries(skills)) {
    addSkill(codebase, name, { modify: { 'a.txt': [LINES, changed(words)] } });
  }
  return codebase;
}

/** Three skills of which two disagree with the first, far from each other; the last also works elsewhere. */
const FAR = {
  one: { 5: 'one', 30: 'ONE' },
  two: { 5: 'two', 12: 'two alone' },
  zed: { 30: 'zed', 38: 'zed alone' },
};

test('layers that disagree far from each other in a file are asked about in one round', async () => {
  await using codebase = codebaseWith(FAR);
  const blocked = await codebase.claw('apply', 'one', 'two', 'zed');
  expect(blocked).toMatchObject({
    code: 3,
    json: {
      conflicts: [
        {
          path: 'a.txt',
          layers: ['one', 'two, zed'],
          hunks: [
            { ours: 'one\n', theirs: 'two\n' },
            { ours: 'ONE\n', theirs: 'zed\n' },
          ],
        },
      ],
    },
  });
  const marked = codebase.read('.claw/pending/a.txt');
  expect(marked).toContain('<<<<<<< one\none\n||||||| base\nline 5\n=======\ntwo\n>>>>>>> two\n');
  expect(marked).toContain('<<<<<<< one\nONE\n||||||| base\nline 30\n=======\nzed\n>>>>>>> zed\n');
  codebase.write({ 'answers.json': JSON.stringify({ 'a.txt': { hunks: ['theirs', 'ours'] } }) });
  expect(await codebase.claw('resolve', '--answers', 'answers.json')).toMatchObject({ code: 0 });
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: [] });
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  const expected = { 5: 'two', 12: 'two alone', 30: 'ONE', 38: 'zed alone' };
  expect(codebase.read('a.txt')).toBe(changed(expected));
  // Each disagreement is recorded by itself: it is known again without the third skill.
  const { data } = (await codebase.claw('resolutions')).json;
  expect(data).toMatchObject([{ layers: ['one', 'two'] }, { layers: ['one', 'zed'] }]);
  expect(await codebase.claw('remove', 'two')).toMatchObject({ code: 0 });
  expect(codebase.read('a.txt')).toBe(changed({ 5: 'one', 30: 'ONE', 38: 'zed alone' }));
});

test('each marker names the skill that brought the lines, also where one disagrees with two', async () => {
  await using codebase = codebaseWith({
    one: { 5: 'one' },
    two: { 30: 'two' },
    zed: { 5: 'zed', 30: 'ZED' },
  });
  expect(await codebase.claw('apply', 'one', 'two', 'zed')).toMatchObject({ code: 3 });
  const marked = codebase.read('.claw/pending/a.txt');
  expect(marked).toContain('<<<<<<< one\none\n||||||| base\nline 5\n');
  expect(marked).toContain('<<<<<<< two\ntwo\n||||||| base\nline 30\n');
});

test('texts finished between the markers are taken; a change elsewhere in the file is refused aloud', async () => {
  await using codebase = codebaseWith(FAR);
  await codebase.claw('apply', 'one', 'two', 'zed');
  const finished = changed({ 5: 'both', 12: 'two alone', 30: 'all', 38: 'zed alone' });
  codebase.write({ '.claw/pending/a.txt': finished.replace('line 20', 'mine') });
  const refused = await codebase.claw('resolve', 'a.txt');
  expect(refused).toMatchObject({ code: 2, json: { error: { code: 'USAGE', path: 'a.txt' } } });
  expect(refused.json.error?.message).toContain('between the markers');
  codebase.write({ '.claw/pending/a.txt': finished });
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  expect(codebase.read('a.txt')).toBe(finished);
});

test('what depends on a decision is asked once that is made', async () => {
  await using codebase = codebaseWith({ one: { 5: 'one' }, two: { 5: 'two' }, zed: { 5: 'zed' } });
  const blocked = await codebase.claw('apply', 'one', 'two', 'zed');
  expect(blocked.json.conflicts).toMatchObject([{ layers: ['one', 'two'], hunks: { length: 1 } }]);
  await codebase.claw('resolve', 'a.txt', '--theirs');
  const again = await codebase.claw('continue');
  expect(again).toMatchObject({ code: 3, json: { conflicts: [{ layers: ['two', 'zed'] }] } });
  await codebase.claw('resolve', 'a.txt', '--theirs');
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  expect(codebase.read('a.txt')).toBe(changed({ 5: 'zed' }));
});

test('a decision in part of a round stays, and can be made otherwise until the rest is decided', async () => {
  await using codebase = codebaseWith(FAR);
  addSkill(codebase, 'one', {
    modify: { 'a.txt': [LINES, changed(FAR.one)], 'b.txt': [LINES, changed({ 7: 'one' })] },
  });
  addSkill(codebase, 'two', {
    modify: { 'a.txt': [LINES, changed(FAR.two)], 'b.txt': [LINES, changed({ 7: 'two' })] },
  });
  await codebase.claw('apply', 'one', 'two', 'zed');
  await codebase.claw('resolve', 'a.txt', '--theirs');
  expect(await codebase.claw('continue')).toMatchObject({ code: 3 });
  const { json } = await codebase.claw('conflicts');
  expect(json.data).toMatchObject({ open: ['b.txt'] });
  await codebase.claw('resolve', 'b.txt', '--ours');
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  const expected = { 5: 'two', 12: 'two alone', 30: 'zed', 38: 'zed alone' };
  expect(codebase.read('a.txt')).toBe(changed(expected));
  expect(codebase.read('b.txt')).toBe(changed({ 7: 'one' }));
});

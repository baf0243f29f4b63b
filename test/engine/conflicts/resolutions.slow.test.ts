import fs from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const BOTH = LINES.replace('two', 'two of a\ntwo of b');

/** Two skills that want the same line of a file; the second one is applied with the owner's words. */
async function resolved(files: Record<string, string> = {}): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'notes.txt': LINES, ...files }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of a')] } });
  addSkill(codebase, 'b', { modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of b')] } });
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  codebase.write({ '.claw/pending/notes.txt': BOTH });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(BOTH);
  return codebase;
}

type Listed = { key: string; own: boolean; used: boolean; origin: string };

async function list(codebase: Codebase): Promise<Listed[]> {
  return (await codebase.claw('resolutions')).json.data as Listed[];
}

async function onlyKey(codebase: Codebase): Promise<string> {
  const [one, ...others] = await list(codebase);
  expect(others).toEqual([]);
  return one?.key ?? '';
}

test('a recording is readable text, and is used by every later command', async () => {
  await using codebase = await resolved({ 'other.txt': LINES });
  const key = await onlyKey(codebase);
  const text = codebase.read(`.claw/resolutions/${key}.yaml`);
  for (const line of [
    'path: notes.txt',
    '  - a',
    '  - b',
    'origin: owner',
    'two of a',
    'two of b',
  ]) {
    expect(text).toContain(line);
  }
  addSkill(codebase, 'c', { modify: { 'other.txt': [LINES, LINES.replace('one', 'c')] } });
  const applied = await codebase.claw('apply', 'c');
  expect(applied).toMatchObject({ code: 0, json: { data: { settled: [{ by: [key] }] } } });
  expect(applied.json.warnings).toContain(`notes.txt: resolved by the recording ${key}.`);
  expect((await codebase.claw('remove', 'c')).code).toBe(0);
  expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
  expect(codebase.read('notes.txt')).toBe(BOTH);
  // Without one of the two there is no conflict; with it again, nobody is asked.
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect(await list(codebase)).toMatchObject([{ key, used: false }]);
  expect((await codebase.claw('apply', 'b')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(BOTH);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('a clone replays it on the bare core', async () => {
  await using codebase = await resolved();
  commitAll(codebase, 'resolved');
  await using clone = cloneOf(codebase);
  clone.write({ 'notes.txt': LINES });
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.read('notes.txt')).toBe(BOTH);
  expect(await list(clone)).toMatchObject([{ own: true, used: true }]);
});

test('the tests of all layers come first: what fails them is not recorded, and stays decided', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', {
    modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of a')] },
    tests: {
      'a.test.ts':
        "import test from 'node:test'; import fs from 'node:fs';\n" +
        "test('a', () => { if (!fs.readFileSync('notes.txt', 'utf8').includes('two of a')) throw new Error('lost') });\n",
    },
  });
  addSkill(codebase, 'b', { modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of b')] } });
  await codebase.claw('apply', 'a');
  await codebase.claw('apply', 'b');
  const before = { ...codebase.tree(), ...codebase.state() };
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  const failed = await codebase.claw('continue');
  expect(failed).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect({ ...codebase.tree(), ...codebase.state() }).toEqual(before);
  expect(await list(codebase)).toEqual([]);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    open: [],
    details: [{ path: 'notes.txt', decided: true }],
  });
  expect((await codebase.claw('resolve', 'notes.txt', '--ours')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
});

test('a hunk between the same layers stays resolved when something else changes in the file', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  addSkill(codebase, 'a', {
    version: '1.1.0',
    modify: {
      'notes.txt': [LINES, LINES.replace('two', 'two of a').replace('seven', 'seven of a')],
    },
  });
  const upgraded = await codebase.claw('upgrade', 'a');
  expect(upgraded).toMatchObject({ code: 0, json: { data: { settled: [{ by: [key] }] } } });
  expect(codebase.read('notes.txt')).toBe(BOTH.replace('seven', 'seven of a'));
  // Another core as well.
  const core = LINES.replace('ten', 'ten of the core');
  const edited = codebase.read('notes.txt');
  codebase.git('checkout', '-q', '-b', 'upstream', 'v1.0.0');
  codebase.write({ 'notes.txt': core });
  codebase.git('commit', '-q', '-m', 'newer', 'notes.txt');
  codebase.git('tag', 'v1.1.0');
  codebase.git('checkout', '-q', 'main');
  codebase.write({ 'notes.txt': edited });
  const updated = await codebase.claw('update', 'v1.1.0');
  expect(updated.json.error).toBe(null);
  expect(updated).toMatchObject({ code: 0, json: { data: { settled: [{ by: [key] }] } } });
  expect(codebase.read('notes.txt')).toBe(
    BOTH.replace('seven', 'seven of a').replace('ten', 'ten of the core'),
  );
});

test('a third layer in between that changes other lines of the file reopens nothing', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  addSkill(codebase, 'ab', {
    modify: { 'notes.txt': [LINES, LINES.replace('nine', 'nine of ab')] },
  });
  const applied = await codebase.claw('apply', 'ab');
  expect(applied).toMatchObject({ code: 0, json: { data: { settled: [{ by: [key] }] } } });
  expect(codebase.read('notes.txt')).toBe(BOTH.replace('nine', 'nine of ab'));
  expect((await codebase.claw('remove', 'ab')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(BOTH);
});

test('each place of a conflict is between those who brought its lines', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  const wants = (name: string, ...lines: string[]) => {
    const text = lines.reduce((all, line) => all.replace(line, `${line} of ${name}`), LINES);
    addSkill(codebase, name, { modify: { 'notes.txt': [LINES, text] } });
  };
  wants('a', 'two');
  wants('c', 'nine');
  wants('z', 'two', 'nine');
  expect((await codebase.claw('apply', 'a', 'c', 'z')).code).toBe(3);
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  const both = codebase.read('notes.txt');
  const key = await onlyKey(codebase);
  // Without either of the two, the other place is the same disagreement still.
  for (const name of ['a', 'c']) {
    const removed = await codebase.claw('remove', name);
    expect(removed).toMatchObject({ code: 0, json: { data: { settled: [{ by: [key] }] } } });
    expect(codebase.read('notes.txt')).toBe(both);
    expect((await codebase.claw('apply', name)).code).toBe(0);
  }
  expect(codebase.read('notes.txt')).toBe(both);
});

test('in a conflict of two places only the new one is asked about', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  for (const name of ['a', 'b']) {
    const text = LINES.replace('two', `two of ${name}`).replace('eight', `eight of ${name}`);
    addSkill(codebase, name, { version: '1.1.0', modify: { 'notes.txt': [LINES, text] } });
  }
  const blocked = await codebase.claw('upgrade');
  expect(blocked.json.conflicts[0]?.hunks).toEqual([
    { base: 'eight\n', ours: 'eight of a\n', theirs: 'eight of b\n' },
  ]);
  expect(codebase.read('.claw/pending/notes.txt')).toContain('two of a\ntwo of b\n');
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  const done = await codebase.claw('continue');
  expect(done.code).toBe(0);
  const expected = BOTH.replace('eight', 'eight of b');
  expect(codebase.read('notes.txt')).toBe(expected);
  expect((await list(codebase)).map((one) => one.key)).toContain(key);
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect((await codebase.claw('apply', 'b')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(expected);
});

test('other lines, or other layers, are asked about; what may fit is offered and can be taken', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  addSkill(codebase, 'z', {
    modify: {
      'notes.txt': [LINES, LINES.replace('two', 'two of b').replace('nine', 'nine of z')],
    },
  });
  expect((await codebase.claw('apply', 'z')).code).toBe(3);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [{ path: 'notes.txt', decided: false, offers: [{ key, origin: 'owner' }] }],
  });
  expect(
    await codebase.claw('resolve', 'notes.txt', '--recording', '0123456789abcdef'),
  ).toMatchObject({
    code: 2,
  });
  expect((await codebase.claw('resolve', 'notes.txt', '--recording', key)).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(BOTH.replace('nine', 'nine of z'));
  expect(await list(codebase)).toHaveLength(2);
});

test('the same lines in another file are offered as well', async () => {
  await using codebase = await resolved({ 'other.txt': LINES });
  const key = await onlyKey(codebase);
  for (const name of ['c', 'd']) {
    const from = name === 'c' ? 'a' : 'b';
    const text = LINES.replace('two', `two of ${from}`);
    addSkill(codebase, name, { modify: { 'other.txt': [LINES, text] } });
  }
  expect((await codebase.claw('apply', 'c', 'd')).code).toBe(3);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [{ path: 'other.txt', offers: [{ key }] }],
  });
  expect((await codebase.claw('resolve', 'other.txt', '--recording', key)).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('other.txt')).toBe(BOTH);
});

test('a value that was recorded for a key is offered where others want something else there', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  const wants = (skill: string) =>
    addSkill(codebase, skill, {
      manifest: { structured: { env_additions: [{ name: 'LEVEL', example: `of-${skill}` }] } },
    });
  for (const skill of ['a', 'b', 'c']) wants(skill);
  const path = '.env.example#LEVEL';
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  expect((await codebase.claw('resolve', path, '--with', 'of-both')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  const key = await onlyKey(codebase);
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect((await codebase.claw('apply', 'c')).code).toBe(3);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [{ path, offers: [{ key }] }],
  });
  expect((await codebase.claw('resolve', path, '--recording', key)).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('.env.example')).toBe('LEVEL=of-both\n');
  // An unrelated change of the file reopens nothing.
  addSkill(codebase, 'd', {
    manifest: { structured: { env_additions: [{ name: 'OTHER', example: 'x' }] } },
  });
  expect((await codebase.claw('apply', 'd')).code).toBe(0);
  expect(codebase.read('.env.example')).toContain('LEVEL=of-both\n');
});

test('a decision that somebody changed while it waits is refused, and abort clears it', async () => {
  await using codebase = await resolved();
  expect((await codebase.claw('resolutions', 'forget', await onlyKey(codebase))).code).toBe(0);
  expect((await codebase.claw('replay')).code).toBe(3);
  expect((await codebase.claw('resolve', 'notes.txt', '--ours')).code).toBe(0);
  const place = '.claw/pending/.claw-decisions/0.yaml';
  codebase.write({ [place]: 'nonsense\n' });
  for (const verb of [['continue'], ['conflicts'], ['apply', 'a']]) {
    const refused = await codebase.claw(...verb);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'RESOLUTION_INVALID' } } });
    expect(refused.json.error?.message).toContain('claw abort');
  }
  expect((await codebase.claw('abort')).json.outcome).toBe('done');
  expect((await codebase.claw('replay')).code).toBe(3);
});

test('a recording that was not made here holds for the same whole files only', async () => {
  await using made = await resolved();
  const key = await onlyKey(made);
  const recording = made.read(`.claw/resolutions/${key}.yaml`);
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  codebase.write({ [`.claw/resolutions/${key}.yaml`]: recording });
  const skills = (more: (text: string) => string) => {
    for (const name of ['a', 'b']) {
      const text = more(LINES.replace('two', `two of ${name}`));
      addSkill(codebase, name, { modify: { 'notes.txt': [LINES, text] } });
    }
  };
  skills((text) => text.replace('ten', 'TEN'));
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [{ offers: [{ key }] }],
  });
  await codebase.claw('abort');
  skills((text) => text);
  expect(await codebase.claw('apply', 'a', 'b')).toMatchObject({
    code: 0,
    json: { data: { settled: [{ by: [key] }] } },
  });
  expect(codebase.read('notes.txt')).toBe(BOTH);
  expect(await list(codebase)).toMatchObject([{ key, own: false, used: true }]);
});

test('recordings that disagree resolve nothing, and are named; another word replaces both', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  await using other = await resolved();
  await other.claw('resolutions', 'forget', await onlyKey(other));
  expect((await other.claw('remove', 'b')).code).toBe(0);
  expect((await other.claw('apply', 'b')).code).toBe(3);
  await other.claw('resolve', 'notes.txt', '--ours');
  await other.claw('continue');
  const rival = await onlyKey(other);
  expect(rival).not.toBe(key);
  const place = `.claw/resolutions/${rival}.yaml`;
  codebase.write({ [place]: other.read(place) });
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  const blocked = await codebase.claw('apply', 'b');
  expect(blocked.code).toBe(3);
  for (const one of [key, rival]) {
    expect(blocked.json.conflicts[0]).toMatchObject({ reason: expect.stringContaining(one) });
  }
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(await list(codebase)).toHaveLength(1);
  expect((await codebase.claw('replay')).code).toBe(0);
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await list(codebase)).map((one) => one.key).sort()).toEqual([key, rival].sort());
});

test('a recording that is forgotten asks again with the next command that needs it', async () => {
  await using codebase = await resolved({ 'other.txt': LINES });
  const key = await onlyKey(codebase);
  expect(await codebase.claw('resolutions', 'forget', 'nonsense')).toMatchObject({ code: 2 });
  expect((await codebase.claw('resolutions', 'forget', key)).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(BOTH);
  expect(await list(codebase)).toEqual([]);
  addSkill(codebase, 'c', { modify: { 'other.txt': [LINES, LINES.replace('one', 'c')] } });
  const blocked = await codebase.claw('apply', 'c');
  expect(blocked).toMatchObject({ code: 3, json: { conflicts: [{ path: 'notes.txt' }] } });
  expect(codebase.read('notes.txt')).toBe(BOTH);
  codebase.write({ '.claw/pending/notes.txt': BOTH });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(await onlyKey(codebase)).toBe(key);
});

test('a recording that somebody changed is refused by name, with what to do', async () => {
  await using codebase = await resolved();
  const key = await onlyKey(codebase);
  const place = `.claw/resolutions/${key}.yaml`;
  const text = codebase.read(place);
  for (const tampered of [text.replaceAll('two of b', 'steal()'), '{', `${text}more: 1\n`, '']) {
    codebase.write({ [place]: tampered });
    for (const verb of [['apply', 'b'], ['replay'], ['resolutions']]) {
      const refused = await codebase.claw(...verb);
      expect(refused).toMatchObject({
        code: 1,
        json: { error: { code: 'RESOLUTION_INVALID', path: place } },
      });
      expect(refused.json.error?.message).toMatch(new RegExp(`${key}.*resolutions forget|git`));
    }
  }
  codebase.write({ [place]: text });
  expect((await codebase.claw('replay')).code).toBe(0);
  codebase.write({ [place]: '{' });
  expect((await codebase.claw('resolutions', 'forget', key)).code).toBe(0);
  expect((await codebase.claw('status')).code).toBe(0);
});

test('what resolves a conflict must parse; a recording that would not any more is not used', async () => {
  const code = 'export const all = [\n  2,\n  3,\n  // why */\n  5,\n];\n';
  await using codebase = temporaryCodebase({ 'src/a.ts': code }, { git: true });
  const skill = (name: string, version: string, text: string) =>
    addSkill(codebase, name, { version, modify: { 'src/a.ts': [code, text] } });
  skill('a', '1.0.0', code.replace('2,', "'a',"));
  skill('b', '1.0.0', code.replace('2,', "'b',"));
  await codebase.claw('apply', 'a', 'b');
  codebase.write({ '.claw/pending/src/a.ts': code.replace('2,', "['a', 'b',") });
  for (const verb of [['resolve', 'src/a.ts'], ['continue']]) {
    const refused = await codebase.claw(...verb);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'RESOLUTION_INVALID' } } });
    expect(refused.json.error?.message).toMatch(/src\/a\.ts does not parse, line 6/);
  }
  // Parses only as long as the comment ends where it ends now.
  const resolved = code.replace('2,', "'a', 'b', /* both");
  codebase.write({ '.claw/pending/src/a.ts': resolved });
  expect((await codebase.claw('continue')).code).toBe(0);
  skill('a', '1.1.0', code.replace('2,', "'a',").replace('why */', 'why'));
  const blocked = await codebase.claw('upgrade', 'a');
  expect(blocked).toMatchObject({ code: 3, json: { conflicts: [{ path: 'src/a.ts' }] } });
  expect(blocked.json.conflicts[0]).toMatchObject({
    reason: expect.stringMatching(
      /recording [0-9a-f]{16} does not fit any more: .* does not parse, line \d/,
    ),
  });
});

function cloneOf(codebase: Codebase): Codebase {
  const root = fs.mkdtempSync(`${codebase.root}-clone-`);
  codebase.git('clone', '--quiet', codebase.root, root);
  return openCodebase(fs.realpathSync(root));
}

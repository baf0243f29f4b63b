import { expect, test } from 'vitest';
import { digestTree } from '../../../packages/claw/src/digest.ts';
import { BASE, readFolder } from '../../../packages/claw/src/installed/claw-folder.ts';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { addRelease } from '../releases.ts';

const LIST = 'image/list.json';
const NAMED = { 'claw.config.yaml': `structured: { ${LIST}: container }\n` };
const UNNAMED = { 'claw.config.yaml': 'check: []\n' };
const CORE = { 'src/a.txt': 'a\n', [LIST]: '{ "apt": ["git"], "npm": {} }\n' };

function codebaseWith(config: Readonly<Record<string, string>>): Codebase {
  const codebase = temporaryCodebase({ ...CORE, ...config }, { git: true });
  const structured = { container: { apt_packages: ['ffmpeg'] } };
  addSkill(codebase, 'voice', { manifest: { structured } });
  addSkill(codebase, 'note', { add: { 'note.txt': 'note\n' } });
  return codebase;
}

test('packages for an image go into the list that the release names, and out of it again', async () => {
  await using codebase = codebaseWith(NAMED);
  expect(await codebase.claw('apply', 'voice')).toMatchObject({ code: 0 });
  expect(JSON.parse(codebase.read(LIST))).toEqual({ apt: ['ffmpeg', 'git'], npm: {} });
  expect((await codebase.claw('verify')).json.ok).toBe(true);
  expect(await codebase.claw('remove', 'voice')).toMatchObject({ code: 0 });
  expect(codebase.read(LIST)).toBe(CORE[LIST]);
});

test('a codebase that names no such list refuses them, with the way on, and writes nothing', async () => {
  await using codebase = codebaseWith(UNNAMED);
  const before = codebase.tree();
  const refused = await codebase.claw('apply', 'voice');
  expect(refused).toMatchObject({
    code: 1,
    json: { error: { code: 'SCHEMA_INVALID', path: 'manifest.yaml:structured.container' } },
  });
  expect(refused.json.error?.message).toContain('claw.config.yaml names no file that lists them');
  expect(codebase.tree()).toEqual(before);
  const matrix = await codebase.claw('matrix', '--no-proof');
  expect(matrix.json.data).toMatchObject({
    cells: expect.arrayContaining([
      expect.objectContaining({ skills: ['voice'], outcome: 'refused' }),
      expect.objectContaining({ skills: ['note'], outcome: 'clean' }),
    ]),
  });
  expect(await codebase.claw('apply', 'note')).toMatchObject({ code: 0 });
});

test('the list is merged by key, and no skill replaces it; elsewhere a file of that name is a text', async () => {
  await using codebase = codebaseWith(NAMED);
  addSkill(codebase, 'other', { modify: { [LIST]: [CORE[LIST], '{ "apt": [] }\n'] } });
  addSkill(codebase, 'text', { add: { 'container/packages.json': '{}\n' } });
  expect(await codebase.claw('apply', 'other')).toMatchObject({
    code: 1,
    json: { error: { code: 'STRUCTURED_ONLY', path: LIST } },
  });
  expect(await codebase.claw('apply', 'text')).toMatchObject({ code: 0 });
  codebase.write({ [LIST]: '{ "apt": ["git", "curl"], "npm": {} }\n' });
  expect(await codebase.claw('apply', 'voice')).toMatchObject({ code: 0 });
  expect(JSON.parse(codebase.read(LIST)).apt.sort()).toEqual(['curl', 'ffmpeg', 'git']);
});

test('edits of the list become declarations of a package', async () => {
  await using codebase = codebaseWith(NAMED);
  codebase.write({ [LIST]: '{ "apt": ["git", "jq"], "npm": { "zx": "^8.0.0" } }\n' });
  expect(await codebase.claw('pack', 'mine')).toMatchObject({
    code: 0,
    json: { data: { left: [] } },
  });
  expect(codebase.read('skills/mine/manifest.yaml')).toContain(
    'structured:\n  container:\n    npm_dependencies:\n      zx: ^8.0.0\n    apt_packages:\n      - jq\n',
  );
});

test('an installation from before the release named the list goes on with the update that does', async () => {
  await using codebase = codebaseWith(NAMED);
  expect(await codebase.claw('apply', 'voice')).toMatchObject({ code: 0 });
  // As if an engine that knew the list by itself had applied it.
  const digestNow = () => digestTree(readFolder(codebase.root, BASE)).digest;
  const named = digestNow();
  codebase.write({ ...UNNAMED, '.claw/base/claw.config.yaml': UNNAMED['claw.config.yaml'] });
  const state = codebase.read('.claw/state.yaml');
  codebase.write({ '.claw/state.yaml': state.replace(named, digestNow()) });
  addRelease(codebase, 'v2.0.0', { files: { ...NAMED, 'src/a.txt': 'b\n' } });
  const updated = await codebase.claw('update', 'v2.0.0', '--release', '.claw/base', '--yes');
  expect(updated.json.error).toBeNull();
  expect(JSON.parse(codebase.read(LIST))).toEqual({ apt: ['ffmpeg', 'git'], npm: {} });
  expect(await codebase.claw('remove', 'voice')).toMatchObject({ code: 0 });
  expect(codebase.read(LIST)).toBe(CORE[LIST]);
});

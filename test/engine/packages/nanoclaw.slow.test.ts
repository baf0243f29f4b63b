import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type Codebase,
  commitAll,
  type Files,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

// The core as it was when the skills below were written.
const INDEX = `import { start } from './start.js';
import { log } from './log.js';

const TIMEOUT = 1000;

export function main() {
  log('starting');
  start(TIMEOUT);
}

main();
`;
const NEWER = INDEX.replace('TIMEOUT = 1000', 'TIMEOUT = 5000').replace(
  "  log('starting');\n",
  "  log('starting');\n  log('fixed since');\n",
);
const TELEGRAM = INDEX.replace(
  "import { log } from './log.js';\n",
  "import { log } from './log.js';\nimport { telegram } from './channels/telegram.js';\n",
).replace('main();\n', 'main();\ntelegram();\n');

/** A package as NanoClaw has them: whole files, a test command, nothing of what it was written against. */
function telegramSkill(modified = TELEGRAM, manifest = ''): Files {
  return {
    'skills/add-telegram/SKILL.md': '---\nname: add-telegram\ndescription: Telegram\n---\n',
    'skills/add-telegram/manifest.yaml': `skill: telegram
version: 1.0.0
description: "Telegram Bot API integration"
core_version: 0.1.0
adds:
  - src/channels/telegram.ts
modifies:
  - src/index.ts
structured:
  npm_dependencies: {}
conflicts: []
depends: []
test: "npx vitest run tests/telegram.test.ts"
author: somebody
${manifest}`,
    'skills/add-telegram/add/src/channels/telegram.ts': 'export function telegram() {}\n',
    'skills/add-telegram/modify/src/index.ts': modified,
    'skills/add-telegram/modify/src/index.ts.intent.md': '# What\nStarts the channel.\n',
    'skills/add-telegram/tests/telegram.test.ts':
      "import { test } from 'node:test';\ntest('telegram', () => {});\n",
  };
}

function release(codebase: Codebase, files: Files, tag: string): void {
  codebase.write(files);
  commitAll(codebase, tag);
  codebase.git('tag', tag);
}

/** A core with two releases; between them it moved on. */
function movedOn(): Codebase {
  const codebase = temporaryCodebase({ 'src/index.ts': INDEX }, { git: true });
  release(codebase, { 'src/index.ts': NEWER }, 'v1.1.0');
  codebase.write(telegramSkill());
  commitAll(codebase, 'skill');
  return codebase;
}

test('a package without base keeps what the core changed since it was written', async () => {
  await using codebase = movedOn();
  const first = codebase.git('rev-parse', 'v1.0.0').trim();
  const planned = await codebase.claw('plan', 'apply', './skills/add-telegram');
  expect(planned.json.data).toMatchObject({
    inferredBases: [
      { skill: 'telegram', path: 'src/index.ts', from: `commit ${first}`, changedLines: 2 },
    ],
  });
  expect(planned.json.warnings.join()).toContain(
    `base of src/index.ts taken from commit ${first.slice(0, 7)} (2 lines changed)`,
  );
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.json).toMatchObject({ ok: true, outcome: 'done' });
  const merged = codebase.read('src/index.ts');
  expect(merged).toContain('TIMEOUT = 5000');
  expect(merged).toContain('fixed since');
  expect(merged).toContain('\ntelegram();\n');
  expect(merged).toContain("from './channels/telegram.js'");
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('remove', 'telegram')).code).toBe(0);
  expect(codebase.read('src/index.ts')).toBe(NEWER);
});

test('a replay composes the same from state.yaml alone, the ancestor from history', async () => {
  await using codebase = movedOn();
  await codebase.claw('apply', './skills/add-telegram');
  const [tree, state] = [codebase.tree(), codebase.state()];
  codebase.remove('.claw/packages');
  codebase.git('checkout', '--quiet', '--', 'src');
  codebase.remove('src/channels');
  expect((await codebase.claw('replay')).json).toMatchObject({ ok: true, outcome: 'done' });
  expect(codebase.tree()).toEqual(tree);
  expect(codebase.state()).toEqual(state);
  codebase.remove('.claw/packages/telegram.bases');
  codebase.remove('skills');
  expect((await codebase.claw('remove', 'telegram')).json.error?.code).toBe('DIGEST_MISMATCH');
  expect((await codebase.claw('replay')).json).toMatchObject({ ok: true });
  expect(codebase.state()).toEqual(state);
});

test('where the core changed the same lines, it blocks and shows them', async () => {
  await using codebase = movedOn();
  codebase.write(telegramSkill(TELEGRAM.replace('TIMEOUT = 1000', 'TIMEOUT = 9000')));
  const before = codebase.tree();
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([
    {
      path: 'src/index.ts',
      kind: 'content',
      hunks: [{ ours: expect.stringContaining('5000'), theirs: expect.stringContaining('9000') }],
    },
  ]);
  expect(codebase.tree()).toEqual(before);
});

test.for(['shallow clone', 'no git'])(
  'without history it blocks and shows the lines: %s',
  async (kind) => {
    await using codebase = movedOn();
    await using place = openCodebase(mkdtempSync(join(tmpdir(), 'claw-clone-')));
    place.git('clone', '--quiet', '--depth=1', `file://${codebase.root}`, '.');
    if (kind === 'no git') rmSync(place.path('.git'), { recursive: true });
    else place.git('tag', 'v1.1.0');
    const before = place.tree();
    const run = await place.claw('apply', './skills/add-telegram');
    expect(run.code).toBe(3);
    const [conflict, ...more] = run.json.conflicts;
    expect(more).toEqual([]);
    expect(conflict).toMatchObject({ path: 'src/index.ts', kind: 'content' });
    const lines = conflict?.hunks.map(({ ours }) => ours).join() ?? '';
    expect(lines).toContain('TIMEOUT = 5000');
    expect(lines).toContain('fixed since');
    expect(lines).not.toContain('main();');
    expect(run.json.warnings.join()).toContain('telegram carries no base for src/index.ts');
    expect(place.tree()).toEqual(before);
  },
);

test('without history, what only adds lines goes in', async () => {
  await using codebase = temporaryCodebase({ 'src/index.ts': INDEX, ...telegramSkill() });
  expect((await codebase.claw('apply', './skills/add-telegram')).json).toMatchObject({ ok: true });
  expect(codebase.read('src/index.ts')).toBe(TELEGRAM);
});

test('a version that is what the package makes of it is never its ancestor', async () => {
  await using codebase = temporaryCodebase({ 'src/index.ts': INDEX }, { git: true });
  release(codebase, { 'src/index.ts': TELEGRAM }, 'v1.1.0');
  release(codebase, { 'src/index.ts': NEWER }, 'v1.2.0');
  codebase.write(telegramSkill());
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.json).toMatchObject({ ok: true });
  expect(codebase.read('src/index.ts')).toContain('telegram();');
  expect(codebase.read('src/index.ts')).toContain('fixed since');
});

test('where the core changed the very line since, the newest counts, and the plan says so', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\ntwo\nthree\n' }, { git: true });
  const first = codebase.git('rev-parse', 'HEAD').trim();
  release(codebase, { 'a.txt': 'one\nTWO\nthree\n' }, 'v1.1.0');
  const newest = codebase.git('rev-parse', 'HEAD').trim();
  codebase.write({
    'skills/x/manifest.yaml':
      'skill: x\nversion: 1.0.0\ndescription: d\ncore_version: 1.0.0\nadds: []\nmodifies: [a.txt]\n',
    'skills/x/modify/a.txt': 'one\ntoo\nthree\n',
  });
  const run = await codebase.claw('plan', 'apply', 'x');
  expect(run.json.data).toMatchObject({
    inferredBases: [{ from: `commit ${newest}`, changedLines: 2, alsoFits: [`commit ${first}`] }],
  });
  expect(run.json.warnings.join()).toContain(`commit ${first.slice(0, 7)} fits as well`);
});

test('a file that the package renames and changes has its ancestor under the old name', async () => {
  await using codebase = movedOn();
  const ops = 'file_ops:\n  - { type: rename, from: src/index.ts, to: src/main.ts }\n';
  const files = Object.entries(telegramSkill(TELEGRAM, ops)).map(([path, content]) => [
    path.replace('modify/src/index.ts', 'modify/src/main.ts'),
    typeof content === 'string' ? content.replace('  - src/index.ts', '  - src/main.ts') : content,
  ]);
  codebase.remove('skills/add-telegram');
  codebase.write(Object.fromEntries(files));
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.json).toMatchObject({ ok: true });
  expect(codebase.has('src/index.ts')).toBe(false);
  expect(codebase.read('src/main.ts')).toContain('fixed since');
  expect(codebase.read('src/main.ts')).toContain('telegram();');
  const state = codebase.state();
  codebase.remove('.claw/packages');
  expect((await codebase.claw('replay')).json.error).toBe(null);
  expect(codebase.state()).toEqual(state);
});

test('a commit of the owner’s beyond the release is never the ancestor', async () => {
  await using codebase = movedOn();
  // Nearer to the package than any release: taken as base, it would take the owner's line out.
  const near = TELEGRAM.replace('telegram();\n', 'mine();\n');
  codebase.write({ 'src/index.ts': near });
  commitAll(codebase, 'of the owner');
  codebase.write({ 'src/index.ts': NEWER });
  commitAll(codebase, 'back');
  const run = await codebase.claw('plan', 'apply', './skills/add-telegram');
  expect(run.json.data).toMatchObject({
    inferredBases: [{ from: `commit ${codebase.git('rev-parse', 'v1.0.0').trim()}` }],
  });
});

test('a file that another skill adds is an ancestor too', async () => {
  await using codebase = movedOn();
  await codebase.claw('apply', './skills/add-telegram');
  const folder = 'skills/louder';
  codebase.write({
    [`${folder}/manifest.yaml`]: `skill: louder
version: 1.0.0
description: Louder
core_version: 0.1.0
adds: []
modifies: [src/channels/telegram.ts]
depends: [telegram]
`,
    [`${folder}/modify/src/channels/telegram.ts`]:
      'export function telegram() {}\nexport const LOUD = 1;\n',
  });
  const run = await codebase.claw('apply', 'louder');
  expect(run.json).toMatchObject({
    ok: true,
    data: { inferredBases: [{ skill: 'louder', from: 'telegram', changedLines: 1 }] },
  });
  expect(codebase.read('src/channels/telegram.ts')).toContain('LOUD');
});

const DELETION = 'file_ops:\n  - { type: delete, path: src/old.ts }\n';

test('a deletion without base is clean where the file is what the package knew', async () => {
  await using codebase = temporaryCodebase(
    { 'src/index.ts': INDEX, 'src/old.ts': 'old\n' },
    { git: true },
  );
  codebase.write(telegramSkill(TELEGRAM, DELETION));
  expect((await codebase.claw('apply', './skills/add-telegram')).json).toMatchObject({ ok: true });
  expect(codebase.has('src/old.ts')).toBe(false);
});

test('a deletion without base of a file that the core has changed since is a conflict', async () => {
  await using codebase = temporaryCodebase(
    { 'src/index.ts': INDEX, 'src/old.ts': 'old\n' },
    { git: true },
  );
  release(codebase, { 'src/old.ts': 'old\nfixed since\n' }, 'v1.1.0');
  codebase.write(telegramSkill(TELEGRAM, DELETION));
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/old.ts', kind: 'modify-delete' }]);
  expect(codebase.has('src/old.ts')).toBe(true);
});

test('a file that no core ever had blocks the package that changes it', async () => {
  await using codebase = temporaryCodebase({ 'src/main.ts': 'main\n' }, { git: true });
  codebase.write(telegramSkill());
  const run = await codebase.claw('apply', './skills/add-telegram');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/index.ts', kind: 'modify-delete' }]);
});

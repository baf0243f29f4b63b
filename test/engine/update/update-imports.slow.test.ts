import { expect, test, vi } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  keptPackage,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

vi.setConfig({ testTimeout: 240_000 });

const MAIN = "import { other } from './other.mjs';\nconsole.log(other);\n";
const DEMO_MAIN =
  "import { other } from './other.mjs';\nimport { util } from './util.mjs';\nconsole.log(other);\nconsole.log(util);\n";
const TOOL = [
  "import { util } from '../util.mjs';",
  "// '../util.mjs' in a comment, and a text: ",
  "export const text = 'from ../util.mjs';",
  'export const load = async () => (await import("../util.mjs")).util;',
  "export const place = new URL('../util.mjs', import.meta.url);",
  'export const tool = util + 1;',
  '',
].join('\n');
const TEST = [
  "import test from 'node:test';",
  "import { tool } from '../../../src/feature/tool.mjs';",
  "import { util } from '../../../src/util.mjs';",
  "test('tool', () => { if (tool !== util + 1) throw new Error(); });",
  '',
].join('\n');

const demo = {
  add: { 'src/feature/tool.mjs': TOOL },
  modify: { 'src/main.mjs': [MAIN, DEMO_MAIN] as const },
  tests: { 'tool.test.mjs': TEST },
};

/** An installation with a skill that imports `src/util.mjs`, which the next release moves, as `src/main.mjs`. */
async function installation(how: 'declared' | 'undeclared'): Promise<Codebase> {
  const config = (main: string) => JSON.stringify({ check: [`node ${main}`] });
  const codebase = temporaryCodebase(
    {
      'package.json': versioned('1.0.0'),
      'claw.config.yaml': config('src/main.mjs'),
      'src/util.mjs': 'export const util = 1;\n',
      'src/other.mjs': 'export const other = 1;\n',
      'src/main.mjs': MAIN,
    },
    { git: true },
  );
  addSkill(codebase, 'demo', demo);
  const moves = { 'src/util.mjs': 'src/lib/util.mjs', 'src/main.mjs': 'src/app/main.mjs' };
  const entry = { since: '2.0.0', description: 'moved', path_map: moves };
  addRelease(codebase, 'v2', {
    files: {
      'package.json': versioned('2.0.0'),
      'claw.config.yaml': config('src/app/main.mjs'),
      'src/lib/util.mjs': 'export const util = 1;\n',
      'src/app/main.mjs': MAIN.replace('./other', '../other'),
      ...(how === 'declared' ? { 'migrations.yaml': JSON.stringify([entry]) } : {}),
    },
    gone: ['src/util.mjs', 'src/main.mjs'],
  });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  return codebase;
}

const MOVED = [
  '--moved',
  'src/util.mjs=src/lib/util.mjs',
  '--moved',
  'src/main.mjs=src/app/main.mjs',
];
const FOLLOWED_TOOL = TOOL.replace("from '../util", "from '../lib/util")
  .replace('import("../util', 'import("../lib/util')
  .replace("URL('../util", "URL('../lib/util");
const FOLLOWED_MAIN = DEMO_MAIN.replace('./other', '../other').replace('./util', '../lib/util');

test.each([
  ['its migrations', 'declared', []],
  ['the owner', 'undeclared', MOVED],
] as const)('imports of a skill follow a file whose move %s declared', async (_, how, options) => {
  await using codebase = await installation(how);
  const planned = await codebase.claw('plan', 'update', 'v2', ...options);
  const note = 'Imports of src/util.mjs follow it to src/lib/util.mjs in 2 files of demo.';
  expect(planned.json.warnings).toContain(note);
  const run = await codebase.claw('update', 'v2', ...options);
  expect(run.json).toMatchObject({ outcome: 'done', error: null });
  expect(run.json.warnings).toContain(note);
  expect(codebase.read('src/feature/tool.mjs')).toBe(FOLLOWED_TOOL);
  expect(codebase.read('src/app/main.mjs')).toBe(FOLLOWED_MAIN);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ recomposed: [], damaged: [] });
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'nothing' });
  const why = await codebase.claw('why', 'src/app/main.mjs:2');
  expect(JSON.stringify(why.json.data)).toContain('demo');
  // The package itself stays as it was.
  expect(keptPackage(codebase, 'demo')['add/src/feature/tool.mjs']).toBe(TOOL);
  // An edit of the owner's stays through it all.
  codebase.write({ 'src/feature/tool.mjs': FOLLOWED_TOOL.replace('util + 1', '1 + util') });
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'src/feature/tool.mjs', kind: 'modify' }],
  });
  codebase.write({ 'src/feature/tool.mjs': FOLLOWED_TOOL });
  const removed = await codebase.claw('remove', 'demo');
  expect(removed.json).toMatchObject({ outcome: 'done', error: null, warnings: [] });
  expect(codebase.read('src/app/main.mjs')).toBe(MAIN.replace('./other', '../other'));
  expect(codebase.has('src/feature')).toBe(false);
  // One that was written before the move comes in as well.
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('src/feature/tool.mjs')).toBe(FOLLOWED_TOOL);
});

test('recorded edits follow too, and going back to the old release takes it all back', async () => {
  await using codebase = await installation('declared');
  codebase.write({ 'src/mine.mjs': "export { util as mine } from './util.mjs';\n" });
  expect((await codebase.claw('customize', 'mine')).json.error).toBe(null);
  const before = codebase.tree();
  expect((await codebase.claw('update', 'v2')).json.error).toBe(null);
  expect(codebase.read('src/mine.mjs')).toBe("export { util as mine } from './lib/util.mjs';\n");
  const back = await codebase.claw('update', 'v1.0.0');
  expect(back.json).toMatchObject({ outcome: 'done', error: null });
  expect(codebase.tree()).toEqual(before);
});

test('edits that no customisation holds are named where they import the former path, with the way on', async () => {
  await using codebase = await installation('undeclared');
  const own = "import './util.mjs';\n";
  codebase.write({ 'src/other.mjs': `export const other = 1;\n${own}` });
  const refused = await codebase.claw('update', 'v2', ...MOVED);
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  const { message = '' } = refused.json.error ?? {};
  expect(message).toContain(
    'src/util.mjs is src/lib/util.mjs now, and is still imported by its former path in: src/other.mjs\n',
  );
  expect(message).toContain(
    'claw customize "what you changed and why", then claw update v2 --moved src/util.mjs=src/lib/util.mjs',
  );
  expect((await codebase.claw('customize', 'needs it')).json.error).toBe(null);
  expect((await codebase.claw('update', 'v2', ...MOVED)).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('src/other.mjs')).toContain("import './lib/util.mjs';");
});

test('a package that is written anew says the new places itself', async () => {
  await using codebase = await installation('declared');
  commitAll(codebase, 'installed');
  await codebase.claw('update', 'v2');
  const tool = FOLLOWED_TOOL.replace('util + 1', 'util + 2 - 1');
  codebase.write({ 'src/feature/tool.mjs': tool });
  expect((await codebase.claw('pack', 'demo', '--update')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('skills/demo/manifest.yaml')).toContain('2.0.0');
  expect(codebase.read('skills/demo/add/src/feature/tool.mjs')).toBe(tool);
  expect(codebase.read('skills/demo/modify/src/app/main.mjs')).toBe(FOLLOWED_MAIN);
  expect(codebase.read('skills/demo/tests/tool.test.mjs')).toBe(
    TEST.replace('src/util', 'src/lib/util'),
  );
  expect(codebase.tree()['src/app/main.mjs']).toContain('../lib/util.mjs');
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
});

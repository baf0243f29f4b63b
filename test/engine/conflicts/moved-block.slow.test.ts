import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const STEPS = 'check(x);\nprepare(x);\nstore(x);\n';
const EDITED = STEPS.replace('prepare(x)', 'prepare(x, { twice: true })');
const REST = 'one();\ntwo();\nthree();\nfour();\n';
const CORE = `begin();\n${STEPS}${REST}end();\n`;

/** A skill that moves the steps, and one that edits them where they were. */
async function blocked(moved: string, path = 'src/app.js'): Promise<Codebase> {
  const codebase = temporaryCodebase({ [path]: CORE }, { git: true });
  addSkill(codebase, 'mover', { modify: { [path]: [CORE, moved] } });
  addSkill(codebase, 'writer', { modify: { [path]: [CORE, CORE.replace(STEPS, EDITED)] } });
  const run = await codebase.claw('apply', 'mover', 'writer');
  expect(run.code).toBe(3);
  expect(codebase.read(path)).toBe(CORE);
  return codebase;
}

const indented = (text: string) => text.replace(/^/gm, '  ').trimEnd();

test.each([
  ['further down', `begin();\n${REST}${STEPS}end();\n`, `begin();\n${REST}${EDITED}end();\n`],
  [
    'into a block, further in',
    `begin();\n${REST}if (x) {\n${indented(STEPS)}\n}\nend();\n`,
    `begin();\n${REST}if (x) {\n${indented(EDITED)}\n}\nend();\n`,
  ],
])('an edit of lines that were moved %s is offered for their new place', async (_, moved, both) => {
  await using codebase = await blocked(moved);
  const { details } = (await codebase.claw('conflicts')).json.data as {
    details: { places: { ways: { rule: string; label: string }[] }[]; ways: { rule: string }[] }[];
  };
  const [detail] = details;
  expect(detail?.ways.map(({ rule }) => rule)).toEqual(['ours', 'theirs', 'moved']);
  for (const { ways } of detail?.places ?? []) {
    expect(ways.at(-1)?.label).toMatch(/^writer's edit at the block's new place.* \(moved\)$/);
  }
  expect((await codebase.claw('resolve', 'src/app.js', '--choose', 'moved')).code).toBe(0);
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('src/app.js')).toBe(both);
  await codebase.claw('remove', 'writer');
  expect(codebase.read('src/app.js')).toBe(moved);
  expect((await codebase.claw('apply', 'writer')).code).toBe(0);
  expect(codebase.read('src/app.js')).toBe(both);
});

test.each([
  ['ours', `begin();\n${REST}${STEPS}end();\n`],
  ['theirs', CORE.replace(STEPS, EDITED)],
])('with one side, %s, the lines are there once', async (side, text) => {
  await using codebase = await blocked(`begin();\n${REST}${STEPS}end();\n`);
  expect((await codebase.claw('resolve', 'src/app.js', `--${side}`)).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/app.js')).toBe(text);
});

test('the edit at the new place is chosen at both places, or at none', async () => {
  await using codebase = await blocked(`begin();\n${REST}${STEPS}end();\n`);
  const half = await codebase.claw('resolve', 'src/app.js', '--choose', '3,1');
  expect(half.json.error?.message).toContain('at both places of src/app.js that have it');
  expect((await codebase.claw('resolve', 'src/app.js', '--choose', '3,3')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/app.js')).toBe(`begin();\n${REST}${EDITED}end();\n`);
});

test('an edit at the end of what is further in than the lines below it is offered as well', async () => {
  const block =
    'function run(x) {\n  if (x) {\n    open(x);\n    check(x);\n    prepare(x);\n    store(x);\n  }\n  close(x);\n}\n';
  const rest = Array.from({ length: 12 }, (_, at) => `step(${at});\n`).join('');
  const edited = block.replace('store(x)', 'store(x, 2)');
  const base = `begin();\n${block}${rest}end();\n`;
  await using codebase = temporaryCodebase({ 'src/a.js': base }, { git: true });
  const change = (text: string) => ({ modify: { 'src/a.js': [base, text] as const } });
  addSkill(codebase, 'mover', change(`begin();\n${rest}${block}end();\n`));
  addSkill(codebase, 'writer', change(`begin();\n${edited}${rest}end();\n`));
  expect((await codebase.claw('apply', 'mover', 'writer')).code).toBe(3);
  expect((await codebase.claw('resolve', 'src/a.js', '--choose', 'moved')).json.error).toBe(null);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/a.js')).toBe(`begin();\n${rest}${edited}end();\n`);
});

test('functions that changed places are one question, with the same choice', async () => {
  const one = 'export function one() {\n  first();\n  second();\n  return 1;\n}\n';
  const two = 'export function two() {\n  third();\n  fourth();\n  return 2;\n}\n';
  const edited = one.replace('second()', "second('here')");
  await using codebase = temporaryCodebase({ 'src/a.ts': `${one}\n${two}` }, { git: true });
  const change = (text: string) => ({ modify: { 'src/a.ts': [`${one}\n${two}`, text] as const } });
  addSkill(codebase, 'mover', change(`${two}\n${one}`));
  addSkill(codebase, 'writer', change(`${edited}\n${two}`));
  expect((await codebase.claw('apply', 'mover', 'writer')).code).toBe(3);
  expect((await codebase.claw('resolve', 'src/a.ts', '--choose', 'moved')).json.error).toBe(null);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(`${two}\n${edited}`);
});

test('a block that is there twice was not moved', async () => {
  const twice = `begin();\n${STEPS}${REST}${STEPS}end();\n`;
  await using codebase = temporaryCodebase({ 'src/app.js': twice }, { git: true });
  const without = `begin();\n${REST}${STEPS}end();\n`;
  addSkill(codebase, 'mover', { modify: { 'src/app.js': [twice, without] } });
  addSkill(codebase, 'writer', { modify: { 'src/app.js': [twice, twice.replace(STEPS, EDITED)] } });
  expect((await codebase.claw('apply', 'mover', 'writer')).code).toBe(3);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [{ ways: [{ rule: 'ours' }, { rule: 'theirs' }] }],
  });
});

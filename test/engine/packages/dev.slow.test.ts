import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const WEB = "export const web = 'web';\n";
const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { web } from '../../../src/web/web.ts';
test('web is a text', () => assert.equal(typeof web, 'string'));
`;

async function appliedWeb(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'a.txt': 'a\n', 'package.json': '{"version":"1.0.0"}\n' },
    { git: true },
  );
  addSkill(codebase, 'web', { add: { 'src/web/web.ts': WEB }, tests: { 'web.test.ts': TEST } });
  await codebase.claw('apply', 'web');
  commitAll(codebase, 'web is in');
  return codebase;
}

type Line = Readonly<Record<string, unknown>>;

/** A running `claw dev --json`, line by line. */
function startDev(codebase: Codebase, ...args: string[]) {
  const child = spawn(process.execPath, [CLAW, 'dev', ...args, '--json', '--cwd', codebase.root], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextOf = async (kinds: readonly string[]): Promise<Line> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('claw dev ended');
      const line = JSON.parse(value);
      if (kinds.includes(line.kind)) return line;
    }
  };
  const next = () => nextOf(['watching', 'round']);
  const end = async () => {
    child.kill('SIGINT');
    const closed = child.exitCode === null ? once(child, 'close') : null;
    const last: Line[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      last.push(JSON.parse(line.value));
    }
    await closed;
    return { code: child.exitCode, result: last.at(-1) };
  };
  return { next, nextOf, end, [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') };
}

async function editsOf(codebase: Codebase): Promise<unknown> {
  return (await codebase.claw('status')).json.data;
}

test('each save goes into the package once it passes, and what fails stays an edit', async () => {
  await using codebase = await appliedWeb();
  await using dev = startDev(codebase, 'web');
  expect(await dev.next()).toMatchObject({ kind: 'watching', skill: 'web', version: '1.0.0' });
  expect(await dev.next()).toMatchObject({ kind: 'round', result: { outcome: 'nothing' } });

  codebase.write({ 'src/web/web.ts': WEB.replace("'web'", "'wide'") });
  expect(await dev.next()).toMatchObject({
    paths: ['src/web/web.ts'],
    result: { outcome: 'done', data: { version: '1.0.1', folded: ['src/web/web.ts'] } },
  });
  expect(codebase.read('skills/web/add/src/web/web.ts')).toContain('wide');

  codebase.write({ 'src/web/web.ts': 'export const web = 4;\n' });
  expect(await dev.next()).toMatchObject({ result: { error: { code: 'TESTS_FAILED' } } });
  expect(codebase.read('skills/web/add/src/web/web.ts')).toContain('wide');
  expect(codebase.read('src/web/web.ts')).toContain('4');

  codebase.write({ 'src/web/lib/more.ts': 'export const more = 1;\n', 'src/web/web.ts': WEB });
  let round = await dev.next();
  while (!codebase.has('skills/web/add/src/web/lib/more.ts')) round = await dev.next();
  expect(round).toMatchObject({ result: { outcome: 'done', data: { version: '1.0.1' } } });
  expect(await dev.end()).toMatchObject({
    code: 0,
    result: { verb: 'dev', outcome: 'done', data: { skill: 'web', version: '1.0.1', isIn: true } },
  });
  expect(await editsOf(codebase)).toMatchObject({ edits: [] });
});

test('a session is one command for undo, however often it saved', async () => {
  await using codebase = await appliedWeb();
  const before = codebase.state();
  await using dev = startDev(codebase, 'web');
  await dev.next();
  await dev.next();
  for (let count = 1; count <= 11; count += 1) {
    codebase.write({ 'src/web/web.ts': `export const web = 'web ${count}';\n` });
    while (!codebase.read('skills/web/add/src/web/web.ts').includes(`web ${count}'`)) {
      await dev.next();
    }
  }
  expect(await dev.end()).toMatchObject({ code: 0 });
  const undone = await codebase.claw('undo');
  expect(undone).toMatchObject({ code: 0 });
  expect(codebase.state()).toEqual(before);
  expect(codebase.read('skills/web/add/src/web/web.ts')).toBe(WEB);
  expect(codebase.read('src/web/web.ts')).toContain('web 11');
  expect(await editsOf(codebase)).toMatchObject({ edits: [{ path: 'src/web/web.ts' }] });
  codebase.write({ 'src/web/web.ts': WEB });
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.has('src/web/web.ts')).toBe(false);
});

test('what another command does during a session is taken back in its turn, and the rest after it', async () => {
  await using codebase = await appliedWeb();
  const before = codebase.state();
  await using dev = startDev(codebase, 'web');
  await dev.next();
  await dev.next();
  const save = async (text: string) => {
    codebase.write({ 'src/web/web.ts': `export const web = '${text}';\n` });
    while (!codebase.read('skills/web/add/src/web/web.ts').includes(text)) await dev.next();
  };
  await save('first');
  await save('second');
  codebase.write({ 'extra.txt': 'extra\n' });
  expect((await codebase.claw('pack', 'extra', '--description', 'd')).code).toBe(0);
  await save('third');
  expect(await dev.end()).toMatchObject({ code: 0 });
  for (const _ of ['third', 'extra', 'first and second']) {
    expect(await codebase.claw('undo')).toMatchObject({ code: 0 });
  }
  expect(codebase.state()).toEqual(before);
  expect(codebase.has('skills/extra')).toBe(false);
});

test('a save is told of before it is tried, and an end in between says that it was not', async () => {
  await using codebase = await appliedWeb();
  await using dev = startDev(codebase, 'web');
  await dev.next();
  await dev.next();
  // One file, so that no look at the tree sees half of the save: its test does not end.
  const long = "'web';\nawait new Promise(() => setInterval(() => {}, 1000)) // ";
  codebase.write({ 'src/web/web.ts': WEB.replace("'web'", long) });
  const { paths } = await dev.nextOf(['checking', 'round']);
  expect(paths).toContain('src/web/web.ts');
  expect(await dev.end()).toMatchObject({
    code: 0,
    result: { verb: 'dev', outcome: 'done', data: { version: '1.0.0', isUntried: true } },
  });
  expect(codebase.read('src/web/web.ts')).toContain('setInterval');
  expect(codebase.read('skills/web/add/src/web/web.ts')).toBe(WEB);
});

test('--once does it for the edits that are there, and a name without an applied skill says how to begin', async () => {
  await using codebase = await appliedWeb();
  codebase.write({ 'src/web/web.ts': WEB.replace("'web'", "'wide'"), 'new.txt': 'new\n' });
  expect(await codebase.claw('dev', 'web', 'new.txt', '--once')).toMatchObject({
    code: 0,
    json: {
      verb: 'dev',
      outcome: 'done',
      data: { folded: ['new.txt', 'src/web/web.ts'], left: [] },
    },
  });
  addSkill(codebase, 'other', { add: { 'b.txt': 'b\n' } });
  const other = await codebase.claw('dev', 'other');
  expect(other.json.error).toMatchObject({ code: 'SKILL_NOT_APPLIED' });
  expect(other.json.error?.message).toContain('claw apply other');
  const none = await codebase.claw('dev', 'none');
  expect(none.json.error).toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect(none.json.error?.message).toContain('claw pack');
});

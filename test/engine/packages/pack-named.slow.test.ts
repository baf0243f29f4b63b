import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const CORE = {
  'package.json': '{\n  "name": "demo",\n  "version": "1.0.0"\n}\n',
  '.env.example': 'HOST=localhost\n',
  '.gitignore': 'ignored/\n',
  'src/a.ts': LINES,
  'src/moved.txt': LINES,
};

const usage = (message: string) => ({
  code: 2,
  json: { error: { code: 'USAGE', message: expect.stringContaining(message) } },
});

async function edited(): Promise<Codebase> {
  const codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { add: { 'src/alpha.ts': LINES } });
  await codebase.claw('apply', 'alpha');
  codebase.write({
    'src/a.ts': LINES.replace('five', 'FIVE'),
    'src/tools/coin.ts': 'export const coin = 1;\n',
    'src/pages/one.ts': 'export const one = 1;\n',
    'src/pages/deep/two.ts': 'export const two = 2;\n',
    'src/alpha.ts': LINES.replace('two', 'TWO'),
    '.env.example': 'HOST=localhost\nCOIN_SIDES=2\n',
    'ignored/x.ts': 'x\n',
  });
  return codebase;
}

const notNamed = (path: string) => ({ path, what: [], why: 'you did not name it' });

test('a package is begun of the named edits alone, new files and folders that git does not know among them', async () => {
  await using codebase = await edited();
  const args = ['pack', 'coin', 'src/tools/coin.ts', 'src/pages/'];
  const planned = await codebase.claw('plan', ...args);
  const run = await codebase.claw(...args);
  expect(run).toMatchObject({
    code: 0,
    json: {
      data: {
        adds: ['src/pages/deep/two.ts', 'src/pages/one.ts', 'src/tools/coin.ts'],
        modifies: [],
        left: ['.env.example', 'src/a.ts', 'src/alpha.ts'].map(notNamed),
      },
    },
  });
  expect(planned.json.changes).toEqual(run.json.changes);
  expect(await codebase.claw('apply', 'coin')).toMatchObject({ code: 0, json: { changes: [] } });
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: '.env.example' }, { path: 'src/a.ts' }, { path: 'src/alpha.ts' }],
  });
});

test('a named structured file is declared, and an edit of another skill’s file needs that skill', async () => {
  await using codebase = await edited();
  const run = await codebase.claw('pack', 'coin', 'src/alpha.ts', '.env.example');
  expect(run).toMatchObject({ code: 0, json: { data: { modifies: ['src/alpha.ts'] } } });
  const manifest = codebase.read('skills/coin/manifest.yaml');
  expect(manifest).toContain('COIN_SIDES');
  expect(manifest).toContain('depends:\n  - alpha\n');
});

test('a moved file is taken along whole, whichever of its names is named', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.remove('src/moved.txt');
  codebase.write({ 'lib/moved.txt': LINES, 'src/a.ts': 'other\n' });
  for (const [name, path] of [
    ['to', 'lib/moved.txt'],
    ['from', 'src/moved.txt'],
  ] as const) {
    expect(await codebase.claw('pack', name, path)).toMatchObject({ code: 0 });
    expect(codebase.read(`skills/${name}/manifest.yaml`)).toContain('type: rename');
  }
});

test('paths choose among the changes of a range of commits as well', async () => {
  await using codebase = await edited();
  codebase.git('add', 'src/a.ts', 'src/tools');
  codebase.git('commit', '--quiet', '-m', 'second');
  const run = await codebase.claw('pack', 'coin', 'src/tools', '--range', 'v1.0.0..HEAD');
  expect(run.json.data).toMatchObject({ adds: ['src/tools/coin.ts'], modifies: [] });
  expect(await codebase.claw('pack', 'b', 'src/pages', '--range', 'v1.0.0..HEAD')).toMatchObject(
    usage('These commits do not change src/pages.'),
  );
});

test('where the path comes first, the right order is said', async () => {
  await using codebase = await edited();
  const right = usage('The name of the skill comes first: claw pack coin src/tools/coin.ts.');
  expect(await codebase.claw('pack', 'src/tools/coin.ts', 'coin')).toMatchObject(right);
  expect(await codebase.claw('plan', 'pack', 'src/tools/coin.ts', 'coin')).toMatchObject(right);
  expect(await codebase.claw('pack', 'src/tools/coin.ts')).toMatchObject(
    usage('comes first: claw pack <name> src/tools/coin.ts.'),
  );
  expect(await codebase.claw('pack', 'src/tools/coin.ts', 'coin', '--update')).toMatchObject(
    usage('comes first: claw pack coin src/tools/coin.ts --update.'),
  );
});

test('what is named and is no edit is refused with the reason', async () => {
  await using codebase = await edited();
  const before = codebase.tree();
  const reasons = {
    'src/moved.txt': 'src/moved.txt is as the release has it',
    'src/none.ts': 'There is no src/none.ts',
    'ignored/x.ts': 'ignored/x.ts is ignored',
    'skills/alpha': 'skills/alpha is not part of the core',
    '../elsewhere': '../elsewhere is outside the project',
    'src/a.ts:5': 'There is no src/a.ts:5',
  };
  for (const [path, reason] of Object.entries(reasons)) {
    expect(await codebase.claw('pack', 'coin', path)).toMatchObject(usage(reason));
    expect(await codebase.claw('pack', 'alpha', path, '--update')).toMatchObject(usage(reason));
  }
  codebase.write({ 'src/alpha.ts': LINES });
  expect(await codebase.claw('pack', 'coin', 'src/alpha.ts')).toMatchObject(
    usage('src/alpha.ts is as alpha made it'),
  );
  codebase.write({ 'src/alpha.ts': LINES.replace('two', 'TWO') });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('skills/coin')).toBe(false);
});

test('what is said of a wrong verb names the command that does it, with the paths', async () => {
  await using codebase = await edited();
  expect(await codebase.claw('pack', 'coin', 'src/tools', '--update')).toMatchObject({
    json: {
      error: {
        code: 'SKILL_NOT_FOUND',
        message: expect.stringContaining('To begin one of these edits: claw pack coin src/tools.'),
      },
    },
  });
  expect(await codebase.claw('pack', 'coin', 'src/tools', '--minor')).toMatchObject(
    usage('skills/coin is not there yet, and begins with 1.0.0: leave out --minor.'),
  );
  expect((await codebase.claw('pack', 'coin', 'src/tools')).code).toBe(0);
  const again = usage('skills/coin is there already. To put edits into it: claw pack coin');
  expect(await codebase.claw('pack', 'coin', 'src/pages')).toMatchObject(again);
  expect(await codebase.claw('pack', 'coin', 'src/pages', '--minor')).toMatchObject(
    usage('To put edits into it: claw pack coin src/pages --update --minor.'),
  );
  codebase.remove('skills/alpha');
  expect(await codebase.claw('pack', 'alpha')).toMatchObject(
    usage('alpha is applied already. To put edits into it: claw pack alpha --update.'),
  );
});

test('an error in a file of the skill is refused, although the tree had the file already', async () => {
  const check = `node -e "const fs = require('fs'); const path = 'src/coin.ts'; if (fs.existsSync(path) && fs.readFileSync(path, 'utf8').includes('oops')) { console.log(path + '(1,1): error TS1: no good.'); process.exit(1); }"`;
  await using codebase = temporaryCodebase(
    { ...CORE, 'claw.config.yaml': `check: [${JSON.stringify(check)}]\n` },
    { git: true },
  );
  codebase.write({ 'src/coin.ts': 'oops\n' });
  expect(await codebase.claw('pack', 'coin', 'src/coin.ts')).toMatchObject({ code: 0 });
  const refused = await codebase.claw('apply', 'coin');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  expect(refused.json.error?.message).toContain('src/coin.ts(1,1)');
});

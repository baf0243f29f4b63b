import { expect, test } from 'vitest';
import { renderText } from '../../../packages/claw/src/cli/render.ts';
import { conflicts } from '../../../packages/claw/src/verbs/conflicts/conflicts.ts';
import { choicesFor } from '../../../src/host/changes/conflicts/conflict-choices.ts';
import { conflictText } from '../../../src/host/changes/conflicts/conflict-text.ts';
import { readWaiting } from '../../../src/host/changes/waiting-operation.ts';
import { choiceLines } from '../../../src/host/contracts/question.ts';
import { runClaw } from '../../../src/testing/claw/claw.ts';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const CORE = `import { open } from './store.ts';

export async function start(port) {
  const store = open();
  listen(port, store);
  // ready
  return store;
}

export class Host {
  run(turn) {
    const limits = {
      time: 1,
    };
    return ask(turn, limits);
  }
}
`;
const LOCAL = CORE.replace(
  '  listen(port, store);\n',
  "  listen(port, store, { host: '127.0.0.1' });\n  greet();\n",
)
  .replace('// ready\n', "// ready\n  announce('local');\n")
  .replace('time: 1', 'time: 2');
const REPORT = CORE.replace('  listen(port', '  await listen(port')
  .replace('// ready\n', "// ready\n  report('up');\n")
  .replace('time: 1', 'time: 3');

async function blocked(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'src/app.ts': CORE }, { git: true });
  addSkill(codebase, 'local', { modify: { 'src/app.ts': [CORE, LOCAL] } });
  addSkill(codebase, 'report', { modify: { 'src/app.ts': [CORE, REPORT] } });
  codebase.write({
    'skills/local/modify/src/app.ts.intent.md': '**Must keep:** no other machine reaches it.\n',
    'skills/report/modify/src/app.ts.intent.md':
      '# What\n\nReports.\n\n**Must keep:** it reports once, and after the port listens, since a report that comes earlier is lost.\n',
  });
  expect((await codebase.claw('apply', 'local', 'report')).code).toBe(3);
  return codebase;
}

/** Returns what `claw conflicts` prints on a terminal of so many columns. */
async function shownAt(codebase: Codebase, columns: number): Promise<string> {
  const result = conflicts({ root: codebase.root } as Parameters<typeof conflicts>[0]);
  return (await renderText(result, { hasColours: false, columns })).out;
}

test('a conflict is shown side by side where there is room, with what would resolve it', async () => {
  await using codebase = await blocked();
  await expect(await shownAt(codebase, 120)).toMatchFileSnapshot('golden/conflict-at-120.txt');
});

test('a narrow terminal has one side below the other', async () => {
  await using codebase = await blocked();
  await expect(await shownAt(codebase, 80)).toMatchFileSnapshot('golden/conflict-at-80.txt');
});

test('a phone has it in a few lines, with the same choices by the same numbers', async () => {
  await using codebase = await blocked();
  const waiting = await readWaiting({
    claw: async (args) => {
      const { code, json } = await codebase.claw(...args);
      return { ...json, exitCode: code } as Awaited<
        ReturnType<Parameters<typeof readWaiting>[0]['claw']>
      >;
    },
  });
  const [conflict] = waiting !== null && 'conflicts' in waiting ? waiting.conflicts : [];
  if (conflict === undefined || !('places' in conflict)) throw new Error('nothing waits');
  const text = `${conflictText(conflict)}\n\n${choiceLines(choicesFor(conflict, true))}\n`;
  await expect(text).toMatchFileSnapshot('golden/conflict-on-a-phone.txt');
});

test('a command that is blocked shows the same', async () => {
  await using codebase = await blocked();
  const { stdout } = await runClaw(['apply', 'local', 'report', '--cwd', codebase.root]);
  const [, ...shown] = stdout.split('\n');
  const [, ...asked] = (await shownAt(codebase, 80)).split('\n');
  expect(shown).toEqual(asked);
});

test('numbers resolve each place, and the conflict is remembered like one that was resolved by hand', async () => {
  await using codebase = await blocked();
  const path = 'src/app.ts';
  const tooFew = await codebase.claw('resolve', path, '--choose', '5');
  expect(tooFew.json.error?.message).toContain('3 places, so it takes as many numbers');
  const unknown = await codebase.claw('resolve', path, '--choose', '5,3,3');
  expect(unknown.json.error?.message).toContain('There is no choice 3');
  const { json } = await codebase.claw('resolve', path, '--choose', '5,4,2');
  expect(json.data).toMatchObject({ path, origin: 'owner', open: [] });
  expect((await codebase.claw('continue')).code).toBe(0);
  const chosen = CORE.replace(
    '  listen(port, store);\n',
    "  await listen(port, store, { host: '127.0.0.1' });\n  greet();\n",
  )
    .replace('// ready\n', "// ready\n  report('up');\n  announce('local');\n")
    .replace('time: 1', 'time: 3');
  expect(codebase.read(path)).toBe(chosen);
  expect((await codebase.claw('remove', 'report')).code).toBe(0);
  expect((await codebase.claw('apply', 'report')).code).toBe(0);
  expect(codebase.read(path)).toBe(chosen);
});

test('a rule resolves all places, where each of them allows it', async () => {
  await using codebase = await blocked();
  const refused = await codebase.claw('resolve', 'src/app.ts', '--choose', 'words');
  expect(refused.json.error?.message).toContain('These do: ours, theirs.');
  expect((await codebase.claw('resolve', 'src/app.ts', '--choose', 'theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/app.ts')).toBe(REPORT);
});

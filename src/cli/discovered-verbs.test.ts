import { ended, type RunVerb } from '@patchclaw/claw/cli';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { PrintedResult } from '../../packages/claw/src/cli/result.ts';
import { createUi } from '../../packages/claw/src/cli/ui.ts';
import { temporaryCodebase } from '../testing/claw/codebase.ts';
import { ContributionFolder } from '../testing/contributions.ts';
import { defineDiscovered } from './discovered-verbs.ts';

/** Tells what it was given. */
const PORT = `
  import { z } from 'zod';
  import { defineVerb, VerbError } from 'src/verb.ts';
  globalThis.loaded?.push('port');
  export const verb = defineVerb({
    name: 'port',
    help: 'opens a port',
    usage: { argument: '[words...]', help: 'which' },
    options: [{ flags: '--wide <metres>', help: 'how wide' }],
    settings: z.object({ PORT_FEE: z.string().regex(/^[0-9]+$/, 'must be a number').default('5') }),
    create: (context) => async (call) => {
      if (call.words[0] === 'refuse') throw new VerbError('usage', 'There is no such port.');
      const data = {
        made: Object.keys(context).sort(), given: Object.keys(call).sort(),
        own: context.settings, words: call.words, options: call.options,
      };
      return { data, lines: ['Opened ' + call.words.join(' ')] };
    },
  });`;

test('a verb is a file: it gets its words, its options and its own settings, and says lines for people', async () => {
  using folder = new ContributionFolder({ 'port.ts': PORT });
  expect(await claw(folder, ['port', 'north', '--wide', '3'])).toMatchObject({
    verb: 'port',
    outcome: 'done',
    lines: ['Opened north'],
    data: {
      made: ['dataDir', 'now', 'projectDir', 'settings'],
      given: [
        'columns',
        'confirm',
        'consent',
        'isAssistantRunning',
        'isJson',
        'options',
        'progress',
        'say',
        'signal',
        'stdin',
        'stdout',
        'words',
      ],
      own: { PORT_FEE: '5' },
      words: ['north'],
      options: { wide: '3' },
    },
  });
});

test('a question of its own is asked, unless --yes has answered it', async () => {
  const asking = PORT.replace(
    'const data = {',
    'const said = [await call.confirm("Open it?"), await call.consent("Lose it?")]; const data = { said,',
  );
  using folder = new ContributionFolder({ 'port.ts': asking });
  const said = async (yes: boolean) => {
    const questions: string[] = [];
    const result = await claw(folder, ['port'], {}, { yes, questions });
    return { questions, result };
  };
  expect(await said(false)).toMatchObject({
    questions: ['Open it?', 'Lose it?'],
    result: { data: { said: [false, 'no'] } },
  });
  expect(await said(true)).toMatchObject({
    questions: [],
    result: { data: { said: [true, 'yes'] } },
  });
});

test('a refusal of a discovered verb is an error of claw with a code', async () => {
  using folder = new ContributionFolder({ 'port.ts': PORT });
  await expect(claw(folder, ['port', 'refuse'])).rejects.toMatchObject({
    code: 'USAGE',
    message: 'There is no such port.',
  });
});

test('a verb that is broken is named where it is called and in help, and stops no other', async () => {
  using folder = new ContributionFolder({
    'broken.ts': "import './nowhere.ts';",
    'empty.ts': 'export const other = 1;',
    'port.ts': PORT,
    'renamed.ts': PORT,
  });
  await expect(claw(folder, ['broken', '--any', 'word'])).rejects.toMatchObject({
    code: 'VERB_FAILED',
    message: expect.stringMatching(
      /^src\/verbs\/broken\.ts cannot be loaded: .*nowhere.*Fix that file, or remove the skill/,
    ),
  });
  expect(await claw(folder, ['port'])).toMatchObject({ outcome: 'done' });
  expect(await claw(folder, ['status'])).toMatchObject({ verb: 'status' });
  const help = (await programOf(folder, ['--help'])).program.helpInformation();
  expect(help).toMatch(/broken .*cannot be loaded/);
  expect(help).toMatch(/empty .*exports no `verb`/);
  expect(help).toMatch(/renamed .*it calls itself port/);
  expect(help).toMatch(/port .*opens a port/);
});

test('a call of one of claw’s own verbs loads none of the folder, whatever words follow', async () => {
  const loaded: string[] = [];
  Object.assign(globalThis, { loaded });
  using folder = new ContributionFolder({ 'port.ts': PORT });
  const { program } = await programOf(folder, ['--cwd', 'port', 'status', 'port']);
  expect(program.commands.map((command) => command.name())).toEqual(['status']);
  expect(loaded).toEqual([]);
  await programOf(folder, ['--cwd', 'status', 'port']);
  expect(loaded).toEqual(['port']);
});

test('a file with the name of one of claw’s own verbs is left out, and help says so', async () => {
  using folder = new ContributionFolder({ 'status.ts': PORT.replaceAll("'port'", "'status'") });
  expect(await claw(folder, ['status'])).toMatchObject({ data: 'its own' });
  const { program } = await programOf(folder, ['--help']);
  const text: string[] = [];
  program.configureOutput({ writeOut: (more) => void text.push(more) }).outputHelp();
  expect(text.join('')).toContain('src/verbs/status.ts is left out: claw has a verb of that name.');
});

test('a setting of its own that cannot be used is told where the verb is called', async () => {
  using folder = new ContributionFolder({ 'port.ts': PORT });
  const call = claw(folder, ['port'], { '.env': 'PORT_FEE=much\n' });
  await expect(call).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(/PORT_FEE.*number/),
  });
});

/** Somebody at the terminal who says no to each question; `yes` is what `--yes` has said before. */
type Person = { readonly yes: boolean; readonly questions: string[] };

/** Runs a line of arguments against a command line with one verb of its own. */
async function claw(
  folder: ContributionFolder,
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
  person: Person | null = null,
): Promise<unknown> {
  const { program, results } = await programOf(folder, args, files, person);
  await program.parseAsync([...args], { from: 'user' });
  return results[0];
}

async function programOf(
  folder: ContributionFolder,
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
  person: Person | null = null,
) {
  const results: PrintedResult[] = [];
  const run: RunVerb = async (_verb, work) => {
    await using codebase = temporaryCodebase(files);
    const { root } = codebase;
    const plain = createUi({ isPlain: true, isQuiet: false });
    const ask = async (question: string) => {
      person?.questions.push(question);
      return false;
    };
    const ui = person === null ? plain : { ...plain, canAsk: true, ask };
    const { signal } = new AbortController();
    const options = { allow: [], ...(person?.yes === true && { yes: true }) };
    results.push(await work({ root, cwd: root, options, ui, signal, additions: null }));
  };
  const program = new Command('claw').exitOverride().option('--cwd <dir>');
  program
    .command('status')
    .argument('[words...]')
    .action(() => void results.push({ ...ended('status', 'its own'), lines: [] }));
  await defineDiscovered(program, run, { args, folder: folder.dir });
  return { program, results };
}

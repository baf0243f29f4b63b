import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ClawError,
  CliError,
  type Command,
  calledVerb,
  ended,
  type Invocation,
  type RunVerb,
  screenOf,
} from '@patchclaw/claw/cli';
import type { VerbCall, VerbContribution, VerbEnd } from '../verb.ts';

const FOLDER = resolve(import.meta.dirname, '../verbs');

/** A verb of the folder: loaded, or the reason why it is not. */
type Loaded =
  | { readonly kind: 'loaded'; readonly verb: VerbContribution }
  | { readonly kind: 'broken'; readonly reason: string };

/**
 * Defines the verbs of `src/verbs/`, by the names of their files.
 *
 * If another verb is called, none of these files is read: other verbs start as fast as without them, and a broken
 * file cannot stop them. Only the called verb is loaded, or all for the help.
 */
export async function defineDiscovered(
  program: Command,
  run: RunVerb,
  { args, folder = FOLDER }: { readonly args: readonly string[]; readonly folder?: string },
): Promise<void> {
  const own = new Set(program.commands.map((command) => command.name()));
  const called = calledVerb(program, args);
  if (called !== null && called !== 'completion' && own.has(called)) return;
  const names = listNames(folder);
  for (const name of names.filter((one) => own.has(one))) {
    const text = `src/verbs/${name}.ts is left out: claw has a verb of that name.`;
    program.addHelpText('after', text);
  }
  const wanted = names.filter((name) => !own.has(name));
  const isAlone = called !== null && wanted.includes(called);
  await Promise.all(
    wanted.map(async (name) => {
      const command = program.command(name);
      if (isAlone && called !== name) return;
      const loaded = await load(folder, name);
      if (loaded.kind === 'loaded') define(command, loaded.verb, run);
      else defineBroken(command, loaded.reason, run);
    }),
  );
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !/\.(test|d)\.ts$/.test(file))
      .map((file) => file.slice(0, -'.ts'.length))
      .sort();
  } catch {
    return []; // A tree without that folder has no such verbs.
  }
}

async function load(folder: string, name: string): Promise<Loaded> {
  try {
    const module = await import(pathToFileURL(join(folder, `${name}.ts`)).href);
    const verb: unknown = module.verb;
    if (!isVerb(verb)) return { kind: 'broken', reason: 'it exports no `verb` of defineVerb' };
    if (verb.name !== name) return { kind: 'broken', reason: `it calls itself ${verb.name}` };
    return { kind: 'loaded', verb };
  } catch (error) {
    return { kind: 'broken', reason: error instanceof Error ? error.message : String(error) };
  }
}

function isVerb(value: unknown): value is VerbContribution {
  const { name, help, open } = Object(value);
  return typeof name === 'string' && typeof help === 'string' && typeof open === 'function';
}

function define(command: Command, verb: VerbContribution, run: RunVerb): void {
  command.description(verb.help);
  if (verb.usage !== undefined) command.argument(verb.usage.argument, verb.usage.help);
  for (const { flags, help } of verb.options ?? []) command.option(flags, help);
  command.action(() =>
    run(verb.name, async (invocation) => {
      const { data, lines } = await carryOut(verb, command, invocation);
      return { ...ended(verb.name, data), lines: lines ?? [] };
    }),
  );
}

function defineBroken(command: Command, reason: string, run: RunVerb): void {
  const name = command.name();
  const [first = ''] = reason.split('\n');
  command
    .description(`cannot be loaded: ${first}`)
    .argument('[words...]')
    .allowUnknownOption()
    .action(() =>
      run(name, async () => {
        const next = 'Fix that file, or remove the skill that brought it.';
        throw new CliError(
          'VERB_FAILED',
          `src/verbs/${name}.ts cannot be loaded: ${first}. ${next}`,
        );
      }),
    );
}

async function carryOut(
  verb: VerbContribution,
  command: Command,
  { root, options, ui, signal, additions }: Invocation,
): Promise<VerbEnd> {
  const { dataDirOf, environmentOf } = await import('./environment.ts');
  const environment = environmentOf(root);
  const dataDir = dataDirOf(environment, root);
  const opened = verb.open(environment, { projectDir: root, dataDir, now: Date.now });
  if (opened.kind === 'wrong-settings') {
    const wrong = opened.wrong.map(({ name, problem }) => `${name} in .env ${problem}`).join('; ');
    throw new ClawError('USAGE', `${wrong}. Fix that, and try again.`);
  }
  if (opened.value === null) {
    const needs = verb.needs.join(' and ');
    throw new ClawError('USAGE', `Set ${needs} in .env first: ${verb.name} needs it.`);
  }
  const { sayAll } = await import('./assistant/chat.ts');
  const call: VerbCall = {
    words: command.args,
    options: command.opts(),
    isJson: options.json === true,
    signal,
    stdin: process.stdin,
    columns: screenOf(process.stdout, process.env).columns,
    stdout: process.stdout,
    async isAssistantRunning() {
      const { isAssistantRunning } = await import('./assistant/running.ts');
      return isAssistantRunning(dataDir);
    },
    async say(text) {
      const { data } = await sayAll({ options, ui, signal, additions, root, cwd: root }, [text]);
      return data.answers;
    },
    confirm: async (question) => options.yes === true || (await ui.ask(question)),
    async consent(question) {
      if (options.yes) return 'yes';
      if (options.json || !ui.canAsk) return 'nobody-to-ask';
      return (await ui.ask(question)) ? 'yes' : 'no';
    },
    progress: (text) => ui.progress({ kind: 'note', text }),
  };
  return opened.value(call).catch(inClawWords);
}

const CODES = {
  stopped: 'ASSISTANT_STOPPED',
  running: 'ASSISTANT_RUNNING',
  failed: 'VERB_FAILED',
} as const;

async function inClawWords(error: unknown): Promise<never> {
  const { VerbError } = await import('../verb.ts');
  if (!(error instanceof VerbError)) throw error;
  const { kind, message } = error;
  if (kind === 'usage') throw new ClawError('USAGE', message);
  if (kind === 'declined') throw new ClawError('CONSENT_NEEDED', message);
  throw new CliError(CODES[kind], message);
}

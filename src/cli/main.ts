import { resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { ClawError, findRoot, type VerbResult } from '../engine/index.ts';
import { assistantVerbs } from './assistantVerbs.ts';
import { engineVerbs } from './engineVerbs.ts';
import { exitCodeOf, outcomeOf } from './exitCode.ts';
import { renderJson } from './json.ts';
import { renderText } from './text.ts';
import { createUi, type Ui } from './ui.ts';

/** The options that every verb takes. */
export type GlobalOptions = {
  readonly json?: boolean;
  readonly cwd?: string;
  readonly yes?: boolean;
  readonly allow: readonly string[];
};

/** What a verb's action is given to work with. */
export type Invocation = {
  readonly root: string;
  readonly cwd: string;
  readonly options: GlobalOptions;
  readonly ui: Ui;
};

/** Runs a verb and prints its result. @returns the exit code */
export type Run = (
  verb: string,
  work: (invocation: Invocation) => Promise<VerbResult>,
) => (options: unknown, command: Command) => Promise<void>;

/** Parses the arguments, runs one verb, prints its result. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const isJson = args.includes('--json');
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (isJson) printFailure(args[0] ?? '', new ClawError('USAGE', error.message));
    return 2;
  }
}

function createProgram(exit: (code: number) => void): Command {
  const program = new Command('claw')
    .description('Skills that change the code, safely; and the assistant they change.')
    .exitOverride()
    .showHelpAfterError('(claw help <verb> tells more)')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addOption(new Option('--cwd <dir>', 'work in another folder'))
    .addOption(new Option('--yes', 'do not ask'))
    .addOption(
      new Option('--allow <path>', 'let this path be changed although it runs or steers programs')
        .default([])
        .argParser((value: string, known: string[]) => [...known, value]),
    );
  const runVerb = async (
    verb: string,
    work: (invocation: Invocation) => Promise<VerbResult>,
  ): Promise<void> => {
    const options = program.opts<GlobalOptions>();
    exit(await runAndPrint(verb, options, work));
  };
  for (const define of [...engineVerbs, ...assistantVerbs]) define(program, runVerb);
  return program;
}

async function runAndPrint(
  verb: string,
  options: GlobalOptions,
  work: (invocation: Invocation) => Promise<VerbResult>,
): Promise<number> {
  const ui = createUi({ isQuiet: options.json === true });
  const cwd = resolve(options.cwd ?? process.cwd());
  const result = await settle(verb, () => work({ root: findRoot(cwd), cwd, options, ui }));
  ui.stop(result.error === null);
  if (options.json) process.stdout.write(`${renderJson(result)}\n`);
  else print(result);
  return exitCodeOf(result);
}

async function settle(verb: string, work: () => Promise<VerbResult>): Promise<VerbResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return failure(verb, error);
  }
}

function failure(verb: string, error: ClawError): VerbResult {
  const outcome = outcomeOf(error);
  return { verb, outcome, data: null, changes: [], conflicts: [], warnings: [], error };
}

function print(result: VerbResult): void {
  const { out, err } = renderText(result);
  if (out !== '') process.stdout.write(out);
  if (err !== '') process.stderr.write(err);
}

function printFailure(verb: string, error: ClawError): void {
  process.stdout.write(`${renderJson(failure(verb, error))}\n`);
}

import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander';
import { screenOf } from '../text/screen.ts';
import { ClawError, conflicts, findRoot } from '../verbs.ts';
import { calledVerb } from './called-verb.ts';
import { asCommandError, type CommandError, exitCodeOf, outcomeOf } from './command-error.ts';
import type { Edition, GlobalOptions, Invocation, RunVerb, Verbs } from './edition.ts';
import {
  type AnyResult,
  type CliResult,
  type DiscoveredResult,
  ended,
  type Failure,
  type PrintedResult,
  renderJson,
} from './result.ts';
import { createUi } from './ui.ts';

/** Parses the arguments, runs one verb of an edition, prints its result. @returns the exit code */
export async function runCommandLine(args: readonly string[], edition: Edition): Promise<number> {
  let exitCode: number | null = null;
  const isJson = args.includes('--json');
  const way = {
    isJson,
    exit: (code: number) => {
      exitCode = code;
    },
  };
  survivePipes();
  forgetRepository();
  const wanted = await withoutDryRun(args, edition, way);
  if (wanted === null) return 2;
  const program = await createProgram(wanted, edition, way);
  try {
    await program.parseAsync([...withoutUnknownTopic(program, wanted)], { from: 'user' });
    // `start` gives the assistant's own, which it sets itself.
    return exitCode ?? Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (isJson) printFailure(verbOf(program, args), usageError(error));
    return 2;
  }
}

type Way = { readonly isJson: boolean; readonly exit: (code: number) => void };

/** Returns the arguments with `--dry-run` carried out; null where the verb has none, which is printed. */
async function withoutDryRun(
  args: readonly string[],
  edition: Edition,
  way: Way,
): Promise<readonly string[] | null> {
  const isHelp = args.some((arg) => arg === '--help' || arg === '-h');
  if (!args.includes('--dry-run') || isHelp) return args;
  const called = calledVerb(await createProgram(args, edition, way), args);
  const { withoutChanges } = await import('./dry-run.ts');
  try {
    return withoutChanges(args, called);
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    if (way.isJson) printFailure(called ?? '', error);
    else process.stderr.write(`${error.code}: ${error.message}\n`);
    return null;
  }
}

/** Asked for help about a word that is no verb, the library prints the help of all and says nothing of the word. */
function withoutUnknownTopic(program: Command, args: readonly string[]): readonly string[] {
  const [verb, topic] = args;
  const isUnknown =
    verb === 'help' &&
    topic !== undefined &&
    !topic.startsWith('-') &&
    !['help', ...program.commands.map((command) => command.name())].includes(topic);
  return isUnknown ? args.slice(1) : args;
}

type AsTyped = (text: string) => string;

/**
 * Writes the commands in a text as they have to be typed: where npx started this one, `claw` alone is most likely not
 * on the path.
 */
function typedBy(
  { npm_lifecycle_event: startedBy }: NodeJS.ProcessEnv,
  verbs: readonly string[],
): AsTyped {
  if (startedBy !== 'npx') return (text) => text;
  const command = new RegExp(
    `(?<![\\w./@-]|npx )claw (?=(?:--)?(?:${verbs.join('|')}|help)\\b)`,
    'g',
  );
  return (text) => text.replace(command, 'npx claw ');
}

const EXIT_CODES = `
Exit codes: 0 done · 1 failed or refused · 2 wrong use · 3 blocked by conflicts ·
4 checks, tests or npm failed · 5 locked · 6 recovery needs a decision.
With any other code than 0 or 6, no file has changed.
`;

/** Format of help: options that all verbs take are listed too, and exit codes after the list of verbs. */
const HELP = {
  showGlobalOptions: true,
  formatHelp: (command: Command, help: Help): string => {
    const text = Help.prototype.formatHelp.call(help, command, help);
    return command.parent === null ? text + EXIT_CODES : text;
  },
};

async function createProgram(
  args: readonly string[],
  edition: Edition,
  way: Way,
): Promise<Command> {
  const asTyped = typedBy(process.env, Object.keys(edition.verbs));
  const program = new Command('claw')
    .description(edition.description)
    .usage('<verb> [options]')
    .version(edition.version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printHelp(text, way.isJson),
      outputError: (text, write) => write(asTyped(inPlainWords(text))),
    })
    .showHelpAfterError(asTyped('(claw --help lists the verbs)'))
    .showSuggestionAfterError()
    .configureHelp(HELP)
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addOption(new Option('--cwd <dir>', 'work in another folder').argParser(folderArgument))
    .addOption(new Option('--yes', 'do not ask'))
    .addOption(new Option('-q, --quiet', 'print the result and no progress'))
    .addOption(
      new Option('--progress', 'with --json: write progress and output as JSON lines to stderr'),
    )
    .addOption(new Option('--dry-run', 'show what the verb would do, and change nothing'))
    .addOption(
      new Option('--no-install', 'install no npm packages; claw status says what is missing'),
    )
    .addOption(
      new Option(
        '--expect <plan>',
        'refuse unless the plan is still this one (its id, from --json)',
      ),
    )
    .addOption(
      new Option(
        '--proof <tests>',
        'which tests to run before a change: those of skills only, also the project’s tests of the changed files (related), or all',
      )
        .choices(['skills', 'related', 'all'])
        .default(undefined, 'related'),
    )
    .addOption(
      new Option(
        '--allow <path>',
        'allow a change to this file, which can run code or configure tools; npm:<package> lets an install script run',
      )
        .default([], 'none')
        .argParser((value: string, known: string[]) => [...known, value]),
    );
  const runVerb: RunVerb = async (verb, work) => {
    const options = program.opts<GlobalOptions>();
    const given = { options, additions: edition.additions, asTyped };
    way.exit(await runAndPrint(verb, given, work));
  };
  for (const define of wantedVerbs(program, args, edition.verbs)) define(program, runVerb);
  await edition.discover?.(program, runVerb, args);
  for (const command of program.commands) {
    command.showHelpAfterError(asTyped(`(claw help ${command.name()} tells more)`));
  }
  groupVerbs(program);
  return program;
}

/** Returns the verb that is called, since it need not wait for the others; all of them for help, and for a word that is none. */
function wantedVerbs(program: Command, args: readonly string[], verbs: Verbs) {
  const called = calledVerb(program, args);
  const isHelp = args.some((arg) => arg === '--help' || arg === '-h');
  // The completion is made of all verbs.
  const isOne = called !== null && called !== 'completion' && !isHelp;
  const define = isOne && Object.hasOwn(verbs, called) ? verbs[called] : null;
  return define ? [define] : Object.values(verbs);
}

async function runAndPrint(
  verb: string,
  {
    options,
    additions,
    asTyped,
  }: Pick<Invocation, 'options' | 'additions'> & { readonly asTyped: AsTyped },
  work: (invocation: Invocation) => Promise<CliResult | DiscoveredResult>,
): Promise<number> {
  const ui = createUi({
    isPlain: options.json === true,
    isQuiet: options.quiet === true,
    isForPrograms: options.json === true && options.progress === true,
    asTyped,
  });
  const cwd = resolve(options.cwd ?? process.cwd());
  const interruption = catchInterruption();
  const { signal } = interruption;
  try {
    const root = findRoot(cwd);
    const invocation = { root, cwd, options, ui, signal, additions };
    const result = await resultOrFailure(verb, () => work(invocation));
    ui.stop(result.error === null);
    if (options.json) process.stdout.write(`${renderJson(result)}\n`);
    else await print(result, await waitingDetails(result, invocation), asTyped);
    return interruption.exitCode(result) ?? exitCodeOf(result);
  } finally {
    interruption.end();
  }
}

async function resultOrFailure(
  verb: string,
  work: () => Promise<CliResult | DiscoveredResult>,
): Promise<PrintedResult> {
  try {
    return await work();
  } catch (error) {
    return failure(verb, asCommandError(error));
  }
}

function failure(verb: string, error: CommandError): Failure {
  return { ...ended(verb, null, outcomeOf(error)), error };
}

/** Returns how the conflicts of a verb that was blocked can be decided; none for other verbs. */
async function waitingDetails(result: PrintedResult, invocation: Invocation) {
  if (result.outcome !== 'blocked' || result.verb === 'plan') return [];
  const { createContext } = await import('./engine/invocation.ts');
  return (await conflicts(createContext(invocation))).data?.details ?? [];
}

async function print(
  result: PrintedResult,
  details: Awaited<ReturnType<typeof waitingDetails>>,
  asTyped: AsTyped,
): Promise<void> {
  const { renderText } = await import('./render.ts');
  const screen = screenOf(process.stdout, process.env);
  const { out, err } = await renderText(result, screen, details, asTyped);
  if (out !== '') process.stdout.write(out);
  if (err !== '') process.stderr.write(err);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time for a verb to clean up after Ctrl-C; a second Ctrl-C does not wait for it. */
const PATIENCE_MS = 15_000;

/** Ctrl-C and its like, from the start of a verb until its result is printed. */
type Interruption = {
  readonly signal: AbortSignal;
  /** 128 and the signal's number where it ended the verb; null where the verb was done before. */
  readonly exitCode: (result: AnyResult) => number | null;
  /** Signals mean what they meant before. */
  readonly end: () => void;
};

/**
 * Lets a verb end in good order when it is interrupted: what it runs is ended, what it laid out is
 * removed. Publishing is not interrupted, so the tree is as before, or the verb is done.
 * The second signal ends the process at once.
 */
function catchInterruption(): Interruption {
  const controller = new AbortController();
  let caught: (typeof SIGNALS)[number] | null = null;
  const onSignal = (name: (typeof SIGNALS)[number]): void => {
    const leave = () => process.exit(128 + constants.signals[name]);
    if (caught !== null) leave();
    caught = name;
    setTimeout(leave, PATIENCE_MS).unref();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    exitCode: ({ error }) =>
      caught !== null && error !== null ? 128 + constants.signals[caught] : null,
    end: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Skills and the release:': ['init', 'adopt', 'apply', 'remove', 'upgrade', 'update', 'replay'],
  'Your own changes:': ['customize', 'rebase', 'pack', 'dev'],
  'Look, and change nothing:': [
    ...['plan', 'status', 'list', 'show', 'log', 'why', 'diff', 'verify', 'matrix', 'doctor'],
  ],
  'Conflicts:': ['conflicts', 'resolve', 'continue', 'abort', 'resolutions'],
  'Take back:': ['undo', 'recover'],
  'For git:': ['merge-file', 'merge-driver'],
  'For your shell:': ['completion'],
};

/** Puts the verbs into groups in `claw --help`, once all are defined. */
export function groupVerbs(program: Command): void {
  const entries = Object.entries(GROUPS);
  const headings = new Map(
    entries.flatMap(([heading, verbs]) => verbs.map((verb) => [verb, heading] as const)),
  );
  for (const command of program.commands) {
    command.helpGroup(headings.get(command.name()) ?? 'The assistant:');
  }
}

function printFailure(verb: string, error: ClawError): void {
  process.stdout.write(`${renderJson(failure(verb, error))}\n`);
}

function printHelp(text: string, isJson: boolean): void {
  process.stdout.write(isJson ? `${renderJson(ended('help', text.trimEnd()))}\n` : text);
}

/** Returns the verb that was meant, for the report of a command line that could not be parsed. */
function verbOf(program: Command, args: readonly string[]): string {
  const verbs = program.commands.map((command) => command.name());
  return args.find((word) => verbs.includes(word)) ?? args.find((word) => !/^-/.test(word)) ?? '';
}

function usageError(error: CommanderError): ClawError {
  const isBare = error.code === 'commander.help';
  const message = isBare
    ? 'No verb is given.'
    : inPlainWords(error.message).replace(/^error: /, '');
  return new ClawError('USAGE', `${message.replace(/\.$/, '')}. \`claw --help\` lists the verbs.`);
}

/** Rewords the library's message about a word that is not in a list. */
export function inPlainWords(message: string): string {
  return message
    .replace(
      /(?:command-)?argument value '(.*)' is invalid for argument '[^']*'\./,
      '"$1" is none of the words that can stand here.',
    )
    .replace(/option '([^ ']+)[^']*' argument '(.*)' is invalid\./, '$1 does not take "$2".')
    .replace('Allowed choices are', 'There are:');
}

function folderArgument(value: string): string {
  if (statSync(value, { throwIfNoEntry: false })?.isDirectory()) return value;
  throw new InvalidArgumentError('There is no such folder.');
}

/**
 * Removes git's variables: inside a hook they name another repository or index than the project folder's
 * own, or another history. Those about paths change what claw asks git for.
 */
function forgetRepository(): void {
  const names = Object.keys(process.env).filter((name) =>
    /^GIT_(DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|NAMESPACE|.*OBJECT_DIRECTOR.*|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|NO_REPLACE_OBJECTS|(LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS)$/.test(
      name,
    ),
  );
  for (const name of names) delete process.env[name];
}

/** Keeps working when the reader of the output stops early, as in `claw list | head -1`. */
function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  }
}

import { join } from 'node:path';
import {
  ClawError,
  type Command,
  type Invocation,
  type RunVerb,
  screenOf,
  type Verbs,
  wrapped,
} from '@patchclaw/claw/cli';
import { defineLogs } from '../logs/logs.ts';
import { type SetupResult, withLines } from '../results.ts';
import type { SetupOptions } from '../setup/setup.ts';
import { defineService } from '../system-service/service.ts';

type SetupVerbOptions = SetupOptions & { readonly restart: boolean; readonly ifNeeded?: boolean };

/** The assistant's verbs. */
export const assistantVerbs: Verbs = {
  start: (program) =>
    program
      .command('start')
      .description('start the assistant, as npm start does')
      .option('--service', 'run without a terminal until it is stopped, for `claw service`')
      .action(async ({ service }: { readonly service?: boolean }) => {
        const { startHere } = await import('./chat-session.ts');
        const root = join(import.meta.dirname, '../../..');
        process.exitCode = await startHere(root, service ? ['--service'] : []);
      }),
  setup: (program, run) =>
    withStepsInHelp(program, program.command('setup'))
      .description('set up everything step by step, or one part')
      .argument('[name]', 'the part to set up, from the list below')
      .argument('[args...]', 'options of that part')
      .option('--provider <name>', 'the provider of the model; --help lists them')
      .option('--model <name>', 'the model, if you do not want the default')
      .option('--base-url <url>', 'the address of the model’s server')
      .option('--no-restart', 'do not restart a running assistant')
      .option('--if-needed', 'connect a model if none is set up yet, and nothing else')
      // A step has options of its own, which it reads itself.
      .allowUnknownOption()
      .action((given: string | undefined, args: readonly string[], all: SetupVerbOptions) =>
        runSetup(run, async (invocation) => {
          const { restart, ifNeeded = false, ...options } = all;
          if (ifNeeded) {
            const { setUpFirstModel } = await import('../setup/model-step.ts');
            return await setUpFirstModel(invocation, restart);
          }
          const name = given ?? (Object.keys(options).length > 0 ? 'model' : null);
          if (name === null) {
            const { setUpEverything } = await import('../setup/wizard.ts');
            return await setUpEverything(invocation, restart);
          }
          if (name !== 'model') {
            const { runSetupStep } = await import('../setup/step.ts');
            return await runSetupStep(invocation, { name, args, restart });
          }
          const [unknown] = args;
          if (unknown !== undefined) {
            throw new ClawError('USAGE', `"${unknown}" is nothing that \`npx claw setup\` knows.`);
          }
          const { setUpModelAlone } = await import('../setup/model-step.ts');
          return await setUpModelAlone(invocation, options, restart);
        }),
      ),
  chat: (program, run) =>
    program
      .command('chat')
      .description(
        'talk to the assistant: open a session, or send one message and print the answers',
      )
      .argument(
        '[text...]',
        'the message, or an owner’s command such as /status; - adds piped input',
      )
      .action((words: readonly string[]) =>
        run('chat', async (invocation) => {
          const { chat } = await import('./chat.ts');
          return withLines(await chat(invocation, words), []); // They were printed as they came.
        }),
      ),
  logs: defineLogs,
  service: defineService,
};

/** Runs a step of the set-up; people read its summary. */
function runSetup(
  run: RunVerb,
  work: (invocation: Invocation) => Promise<SetupResult>,
): Promise<void> {
  return run('setup', async (invocation) => {
    const result = await work(invocation);
    const screen = screenOf(process.stdout, process.env);
    const { summary } = result.data;
    return withLines(
      result,
      summary.split('\n').flatMap((line) => wrapped(line, screen)),
    );
  });
}

/** Lists in the help of `claw setup` what can be set up, which is discovered only when it is asked for. */
function withStepsInHelp(program: Command, setup: Command): Command {
  program.hook('preSubcommand', async (_program, called) => {
    const isHelp = program.args.some((arg) => arg === '--help' || arg === '-h');
    if (called !== setup || !isHelp) return;
    const { setupNames } = await import('../setup/names.ts');
    setup.addHelpText('after', await setupNames());
  });
  return setup;
}

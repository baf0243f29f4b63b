import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ClawError } from '../engine/index.ts';
import { defineLogs } from './logs.ts';
import type { RunVerb } from './main.ts';
import { defineService } from './service.ts';
import type { SetupOptions } from './setup.ts';

/** The assistant's verbs. */
export const assistantVerbs: readonly ((program: Command, run: RunVerb) => void)[] = [
  (program) =>
    program
      .command('start')
      .description('start the assistant, as npm start does')
      .option('--service', 'without a terminal, until it is told to stop: for `claw service`')
      .action(async (options: { readonly service?: boolean }) => {
        process.exitCode = await startAssistant(options.service ? ['--service'] : []);
      }),
  defineLogs,
  defineService,
  (program, run) =>
    program
      .command('setup')
      .description('connect a model, or with a name something else: whatsapp')
      .argument('[name]', 'what to set up', 'model')
      .argument('[args...]', 'whatsapp takes --phone <number>, --qr-file <path> and --again')
      .option('--provider <name>', 'anthropic, or openai for any server that speaks its protocol')
      .option('--model <name>', 'the model, where the default does not fit')
      .option('--base-url <url>', 'the address of the model’s server')
      // A step has options of its own, which it reads itself.
      .allowUnknownOption()
      .action((name: string, args: readonly string[], options: SetupOptions) =>
        run('setup', async (invocation) => {
          if (name !== 'model') {
            const { runSetupStep } = await import('./setup-step.ts');
            return await runSetupStep(invocation, name, args);
          }
          const [unknown] = args;
          if (unknown !== undefined) {
            throw new ClawError('USAGE', `"${unknown}" is nothing that \`claw setup\` knows.`);
          }
          const { setUpModel } = await import('./setup.ts');
          return await setUpModel(invocation, options);
        }),
      ),
];

// The supervisor owns the terminal, so it is a process of its own, with ours.
async function startAssistant(args: readonly string[]): Promise<number> {
  const entry = join(import.meta.dirname, '../supervisor/start.ts');
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit' });
  // Ctrl-C reaches the whole terminal group; the supervisor decides what it means.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  // Nobody but us is told this one.
  process.on('SIGTERM', () => void child.kill('SIGTERM'));
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : 1;
}

import { ClawError, type VerbResult } from '../engine/index.ts';
import { discoverSetupSteps, type SetupStep } from '../setup/step.ts';
import { restartedText, restartRunning } from './assistant/restart.ts';
import type { Invocation } from './main.ts';
import { environmentOf, settingsOf } from './settings.ts';
import { setUpModel } from './setup.ts';
import { endSoon, runStep } from './setup-step.ts';

/** One thing to set up, as the walk asks for it. */
type Stage = {
  readonly name: string;
  /** What it is for, as part of a sentence. */
  readonly help: string;
  /** What is set up already; null when nothing is. */
  readonly standing: () => string | null | Promise<string | null>;
  /** Sets it up; what came of it, as a sentence. */
  readonly run: () => Promise<string>;
};

/**
 * Walks through everything that can be set up, showing what is, and asking for each. What is refused or
 * fails is told, and the walk goes on.
 *
 * @throws ClawError USAGE where nobody can be asked
 */
export async function setUpEverything(
  invocation: Invocation,
  restart: boolean,
): Promise<VerbResult> {
  const steps = await discoverSetupSteps();
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) throw sayWhat(steps);
  const stages = [
    modelStage(invocation),
    ...steps.map((step) => stepStage(invocation, step)),
    serviceStage(),
  ];
  const { confirm, isCancel, log } = await import('@clack/prompts');
  const output = process.stderr;
  const done: string[] = [];
  try {
    for (const { name, help, standing, run } of stages) {
      const stands = await standing();
      const state = stands === null ? 'Not set up. Do it now?' : `Set up: ${stands}. Do it anew?`;
      const message = `${name}: ${help}. ${state}`;
      const answer = await confirm({ message, initialValue: stands === null, output });
      if (isCancel(answer)) break;
      if (!answer) continue;
      const came = await run().then(
        (text) => ({ isDone: true, text }),
        (error: unknown) => ({ isDone: false, text: reasonOf(error) }),
      );
      invocation.ui.stop(came.isDone);
      log.message(came.text, { output });
      if (came.isDone) done.push(name);
    }
    return resultOf(done, await summaryOf(invocation, done, restart));
  } finally {
    endSoon();
  }
}

async function summaryOf(
  invocation: Invocation,
  done: readonly string[],
  restart: boolean,
): Promise<string> {
  if (done.length === 0) return 'Nothing was changed.';
  const isTakenUp = restart && done.some((name) => name !== 'service');
  const rest = isTakenUp ? ` ${restartedText(await restartRunning(invocation))}` : '';
  return `Set up: ${done.join(', ')}.${rest}`;
}

function modelStage(invocation: Invocation): Stage {
  return {
    name: 'model',
    help: 'what answers, by a key of its provider',
    standing() {
      const { model } = settingsOf(environmentOf(invocation.root), invocation.root);
      return model.apiKey === null ? null : `${model.provider}/${model.model}, with a key`;
    },
    async run() {
      const { data } = await setUpModel(invocation, {});
      return `The model answers: ${(data as { readonly model: string }).model}. .env holds the key.`;
    },
  };
}

function stepStage(invocation: Invocation, step: SetupStep): Stage {
  const { root } = invocation;
  return {
    name: step.name,
    help: step.help,
    standing: async () => (await step.standing?.(settingsOf(environmentOf(root), root))) ?? null,
    async run() {
      const isSet = (await step.standing?.(settingsOf(environmentOf(root), root))) ?? null;
      const { summary } = await runStep(invocation, step, isSet === null ? [] : (step.again ?? []));
      return summary;
    },
  };
}

function serviceStage(): Stage {
  const definition = async () => {
    const { ownDefinition } = await import('./service.ts');
    return await ownDefinition();
  };
  return {
    name: 'service',
    help: 'the system starts the assistant and keeps it running, instead of this terminal',
    async standing() {
      const { serviceState } = await import('./service/carry-out.ts');
      const { file, path } = serviceState(await definition());
      return file === 'absent' ? null : `installed, ${path}`;
    },
    async run() {
      const { installService } = await import('./service/carry-out.ts');
      const { serviceLines } = await import('./text-service.ts');
      return serviceLines(installService(await definition(), false)).join('\n');
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sayWhat(steps: readonly SetupStep[]): ClawError {
  const ways = [
    'claw setup model < file-with-the-key',
    ...steps.map(({ name }) => `claw setup ${name}`),
    'claw service install',
  ];
  return new ClawError(
    'USAGE',
    `Without a terminal nobody can be asked. Name what to set up: ${ways.map((way) => `\`${way}\``).join(', ')}.`,
  );
}

function resultOf(done: readonly string[], summary: string): VerbResult {
  return {
    verb: 'setup',
    outcome: done.length === 0 ? 'nothing' : 'done',
    data: { summary, done },
    changes: [],
    conflicts: [],
    warnings: [],
    error: null,
  };
}

import { ClawError, ended, type Invocation } from '@patchclaw/claw/cli';
import { discoverSetupSteps, type SetupStep } from '../../setup/step.ts';
import { restartedText, restartRunning } from '../assistant/restart.ts';
import { dataDirOf, environmentOf } from '../environment.ts';
import type { SetupResult } from '../results.ts';
import { ownStartCommand } from '../system-service/service.ts';
import { dropTyped } from './ask.ts';
import { fittedAtBar } from './fitted-text.ts';
import { modelsIn, settingsOf } from './settings.ts';
import { setUpModel } from './setup.ts';
import { applyStarterSet, discoverNewSteps, STARTER, starterState } from './starter.ts';
import { endSoon, runStep } from './step.ts';

/** One thing to set up, as the walk asks for it. */
type Stage = {
  readonly name: string;
  /** Purpose of the stage, as part of a sentence. */
  readonly help: string;
  /** Returns the present set-up in a few words; null where there is none. */
  readonly currentState: () => string | null | Promise<string | null>;
  /** Sets it up; returns the result as a sentence. */
  readonly run: () => Promise<string>;
};

/**
 * Walks through everything that can be set up: shows the present state of each, asks, and asks again after a
 * failure. Ends with a summary of what works and what does not.
 *
 * @throws ClawError USAGE without a terminal
 */
export async function setUpEverything(
  invocation: Invocation,
  restart: boolean,
): Promise<SetupResult> {
  const steps = await discoverSetupSteps();
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) throw sayWhat(steps);
  const stages = [
    modelStage(invocation),
    ...starterStages(invocation),
    ...steps.map((step) => stepStage(invocation, step)),
    serviceStage(),
  ];
  const ends = new Map<string, StageEnd>();
  try {
    for (const stage of stages) {
      const end = await walkThrough(stage, invocation);
      ends.set(stage.name, end);
      if (end.kind === 'left') break;
      if (stage.name !== STARTER.name || end.kind !== 'done') continue;
      const brought = await discoverNewSteps(steps);
      const stagesOfThese = brought.map((step) => stepStage(invocation, step));
      stages.splice(stages.indexOf(stage) + 1, 0, ...stagesOfThese);
    }
    return resultOf(ends, await summaryOf({ invocation, stages, ends, restart }));
  } finally {
    endSoon();
  }
}

/** The end of one stage of the walk. */
type StageEnd =
  | { readonly kind: 'done' | 'failed'; readonly text: string }
  | { readonly kind: 'passed' | 'left' };

/** Asks for one stage, and again where it fails. */
async function walkThrough(
  { name, help, currentState, run }: Stage,
  { ui }: Invocation,
): Promise<StageEnd> {
  const { confirm, isCancel, log } = await import('@patchclaw/claw/prompts');
  const output = process.stderr;
  const current = await currentState();
  const state = current === null ? 'Not set up. Set it up now?' : `Set up: ${current}. Change it?`;
  let message = `${name}: ${help}. ${state}`;
  let initialValue = current === null && name !== 'service';
  let last: StageEnd = { kind: 'passed' };
  for (;;) {
    await dropTyped();
    const answer = await confirm({ message: fittedAtBar(message), initialValue, output });
    if (isCancel(answer)) return last.kind === 'failed' ? last : { kind: 'left' };
    if (!answer) return last;
    try {
      const text = await run();
      ui.stop(true);
      log.message(fittedAtBar(text), { output });
      return { kind: 'done', text };
    } catch (error) {
      ui.stop(false);
      log.error(fittedAtBar(reasonOf(error)), { output });
      if (error instanceof ClawError && error.code === 'INTERRUPTED') return { kind: 'left' };
      last = { kind: 'failed', text: reasonOf(error) };
      [message, initialValue] = [`${name}: that did not work. Try again?`, false];
    }
  }
}

/** Returns a line for each thing that works or does not. */
async function summaryOf(parts: {
  readonly invocation: Invocation;
  readonly stages: readonly Stage[];
  readonly ends: ReadonlyMap<string, StageEnd>;
  readonly restart: boolean;
}): Promise<string> {
  const { invocation, stages, ends, restart } = parts;
  const lines: string[] = [];
  for (const { name, currentState } of stages) {
    const end = ends.get(name);
    const current = await currentState();
    const text =
      current === null ? `not set up; \`npx claw setup ${name}\` does it` : `set up, ${current}`;
    lines.push(`${name}: ${end?.kind === 'failed' ? `does not work: ${end.text}` : text}`);
  }
  const done = doneIn(ends);
  const change = done.length === 0 ? 'Nothing was changed.' : `Changed: ${done.join(', ')}.`;
  const next = restart ? await nextStep(invocation, done) : '';
  return [...lines, `${change} ${next}`.trim()].join('\n');
}

/** Lets a running assistant take up what was set, or says how it is started. */
async function nextStep(invocation: Invocation, done: readonly string[]): Promise<string> {
  if (done.length === 0) return '';
  if (done.some((name) => name !== 'service')) {
    return restartedText(await restartRunning(invocation));
  }
  const start = await ownStartCommand();
  return start === null ? '' : `Start it with \`${start}\`, once none runs in a terminal.`;
}

function doneIn(ends: ReadonlyMap<string, StageEnd>): readonly string[] {
  return [...ends].filter(([, { kind }]) => kind === 'done').map(([name]) => name);
}

function modelStage(invocation: Invocation): Stage {
  return {
    name: 'model',
    help: 'the language model that answers you',
    async currentState() {
      const environment = environmentOf(invocation.root);
      const models = await modelsIn(environment, settingsOf(environment, invocation.root));
      const { configured, configuredName } = models;
      if (configured === null || models.problem() !== null) return null;
      const key = configured.server.secrets().length > 0 ? 'with a key' : 'without a key';
      return `${configuredName}, ${key}`;
    },
    async run() {
      const { model, text } = await setUpModel(invocation, {});
      return `The model answers: ${model}; ${text}.`;
    },
  };
}

/** Returns the offer of the starter set; none in a tree that has no such set. */
function starterStages(invocation: Invocation): readonly Stage[] {
  const { all } = starterState(invocation.root);
  if (all.length === 0) return [];
  return [
    {
      name: STARTER.name,
      help: `${STARTER.help}: ${all.join(', ')}`,
      currentState() {
        const { missing } = starterState(invocation.root);
        const applied = all.filter((name) => !missing.includes(name));
        return applied.length === 0 ? null : applied.join(', ');
      },
      run: () => applyStarterSet(invocation),
    },
  ];
}

function stepStage(invocation: Invocation, step: SetupStep): Stage {
  const currentState = (): string | null => {
    const environment = environmentOf(invocation.root);
    return step.currentState(environment, dataDirOf(environment, invocation.root));
  };
  return {
    name: step.name,
    help: step.help,
    currentState,
    async run() {
      const { summary } = await runStep(
        invocation,
        step,
        currentState() === null ? [] : step.again,
      );
      return summary;
    },
  };
}

function serviceStage(): Stage {
  return {
    name: 'service',
    help: 'the system starts the assistant and keeps it running, instead of this terminal',
    async currentState() {
      const { ownDefinition } = await import('../system-service/service.ts');
      const { serviceState } = await import('../system-service/carry-out.ts');
      const { file, path } = serviceState(await ownDefinition());
      return file === 'absent' ? null : `installed, ${path}`;
    },
    async run() {
      const { installOwnService } = await import('../system-service/service.ts');
      return (await installOwnService(false)).summary;
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sayWhat(steps: readonly SetupStep[]): ClawError {
  const ways = [
    'npx claw setup model < file-with-the-key',
    'npx claw setup starter',
    ...steps.map(({ name }) => `npx claw setup ${name}`),
    'npx claw setup service',
  ];
  return new ClawError(
    'USAGE',
    `Set-up asks questions, and there is no terminal here to ask them on. Name one thing to set up: ${ways.map((way) => `\`${way}\``).join(', ')}.`,
  );
}

function resultOf(ends: ReadonlyMap<string, StageEnd>, summary: string): SetupResult {
  const done = doneIn(ends);
  const failed = [...ends].filter(([, { kind }]) => kind === 'failed').map(([name]) => name);
  const outcome = failed.length > 0 ? 'failed' : done.length > 0 ? 'done' : 'nothing';
  return ended('setup', { summary, done, failed }, outcome);
}

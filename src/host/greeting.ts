import type { Settings } from '../config.ts';
import type { StarterSet } from '../lib/starter-set.ts';
import type { Models } from '../model/model.ts';
import type { LazySandbox } from './turns/agent/lazy-sandbox.ts';

export type GreetingParts = {
  readonly settings: Settings;
  readonly models: Pick<Models, 'configuredName' | 'problem'>;
  /** The model that the owner has chosen for the chat by `/model`; null for that of the settings. */
  readonly chosenModel: string | null;
  /** Null leaves the sandbox out, and takes no time. */
  readonly sandbox: LazySandbox | null;
  /** The channels' parts of it: `/pair links` and the channel's name. */
  readonly hints: readonly string[];
  /** Skills to begin with; named while none of them is in. */
  readonly starterSet: StarterSet;
};

const WORDS = ['/help lists the commands', '/skills what I can learn'];

/** Time that a greeting waits for the name of the engine. */
const WAIT_MS = 5_000;

/**
 * Returns the text before the first prompt: the assistant's name, and things that are missing to get an
 * answer.
 */
export async function greetingOf({
  settings: { assistantName },
  models,
  chosenModel,
  sandbox,
  hints,
  starterSet,
}: GreetingParts): Promise<string> {
  const modelLine =
    chosenModel === null && models.problem() !== null
      ? 'No model yet: `npx claw setup` adds a key.'
      : `Model: ${chosenModel ?? models.configuredName}.`;
  const { all, applied } = starterSet;
  const starter =
    all.length === 0 || applied.length > 0
      ? []
      : [`A good start: \`/add-${all.join(' ')}\` adds what most people want.`];
  if (sandbox === null) {
    return [
      `${assistantName} is here. /help lists what you can say. ${modelLine}`,
      ...starter,
    ].join('\n');
  }
  const lines = [
    `Hello, I am ${assistantName}, your assistant.`,
    await describeSandbox(sandbox),
    modelLine,
    ...starter,
    `Say anything to talk to me; ${[...WORDS, ...hints].join(', ')}.`,
  ];
  return lines.join('\n');
}

async function describeSandbox(sandbox: LazySandbox): Promise<string> {
  const { promise: isLate, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), WAIT_MS);
  const opened = await Promise.race([sandbox.open().catch(() => null), isLate]);
  clearTimeout(timer);
  if (opened === null) return 'Agents: the sandbox is being prepared; see /status for progress.';
  if (opened.kind === 'unavailable') return opened.advice;
  return `Agents run in ${opened.sandbox.description}.`;
}

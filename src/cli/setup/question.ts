import { createInterface } from 'node:readline/promises';
import { ClawError, CliError } from '@patchclaw/claw/cli';
import type { SetupContext, SetupQuestion } from '../../setup/step.ts';
import { dropTyped } from './ask.ts';
import { fittedAtBar, fittedQuestion } from './fitted-text.ts';

/** A try that takes longer is told: an address that nothing answers at takes up to half a minute. */
const QUIET_MS = 1_000;
const WAY_OUT = 'Ctrl-C leaves, and nothing is written.';
/** A password is tried with the server and the user that were typed before it. */
const WAY_OUT_OF_LATER = `Is an earlier answer wrong? ${WAY_OUT}`;

/**
 * Returns the function that asks the owner for a step: on a terminal until an answer fits, otherwise line by line
 * from piped input.
 *
 * It throws ClawError INTERRUPTED when the owner leaves, USAGE when no line is left, SETUP_REFUSED for a piped line
 * that does not fit.
 *
 * @param signal aborted by Ctrl-C while an answer is tried
 */
export function createAsk(signal: AbortSignal): SetupContext['ask'] {
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!isTerminal) return askPipe();
  const leaving = rejectOnceAborted(signal);
  let wayOut = WAY_OUT;
  return async (question) => {
    const answer = await askOnTerminal(question, { leaving, wayOut });
    wayOut = WAY_OUT_OF_LATER;
    return answer;
  };
}

async function askOnTerminal(
  question: SetupQuestion,
  { leaving, wayOut }: { readonly leaving: Promise<never>; readonly wayOut: string },
): Promise<string> {
  const { isCancel, log, password, S_BAR, text } = await import('@patchclaw/claw/prompts');
  const { isSecret, check, proposed, initial: initialValue = '' } = question;
  const message = fittedQuestion(question.message, S_BAR);
  const output = process.stderr;
  const onEmpty = proposed === undefined ? {} : { placeholder: proposed, defaultValue: proposed };
  for (let refusals = 0; ; refusals += 1) {
    const answer = isSecret
      ? await password({ message, output })
      : await text({ message, initialValue, ...onEmpty, output });
    if (isCancel(answer)) throw left();
    const typed = (answer ?? '').trim();
    const telling = setTimeout(() => log.message('Trying it …', { output }), QUIET_MS);
    const problem = await Promise.race([check(typed), leaving]).finally(() =>
      clearTimeout(telling),
    );
    if (problem === null) return typed;
    log.error(fittedAtBar(refusals > 0 ? `${problem} ${wayOut}` : problem), { output });
    await dropTyped();
  }
}

function rejectOnceAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(left()), { once: true });
  // At a question, the library hears Ctrl-C itself, and this is not waited for.
  promise.catch(() => {});
  return promise;
}

function left(): ClawError {
  return new ClawError('INTERRUPTED', 'Set-up cancelled; nothing was written.');
}

function askPipe(): SetupContext['ask'] {
  let lines: AsyncIterator<string> | null = null;
  return async ({ message, check, proposed = '', isOptional = false }) => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { done, value = '' } = await lines.next();
    if (done && !isOptional) {
      throw new ClawError(
        'USAGE',
        `No line came in for “${message}”. Pipe in a line for each answer.`,
      );
    }
    const typed = value.trim() || proposed;
    const problem = await check(typed);
    if (problem === null) return typed;
    throw new CliError('SETUP_REFUSED', `${problem} Nothing was written.`);
  };
}

import { createInterface } from 'node:readline/promises';
import { ClawError } from '../../engine/commands.ts';
import type { SetupContext, SetupQuestion } from '../../setup/step.ts';
import { CliError } from '../cli-error.ts';
import { dropTyped } from './ask.ts';
import { fittedAtBar } from './fitted.ts';

/** A password is tried with the server and the user that were typed before it. */
const WAY_OUT = 'Is an earlier answer wrong? Ctrl-C leaves, and nothing is written.';

/**
 * Returns what asks the owner for a step: on a terminal until an answer fits, else line by line from what
 * is piped in.
 *
 * It throws ClawError INTERRUPTED when the owner leaves, USAGE when no line is left, SETUP_REFUSED for a
 * piped line that does not fit.
 */
export function createAsk(): SetupContext['ask'] {
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return isTerminal ? askOnTerminal : askPipe();
}

async function askOnTerminal(question: SetupQuestion): Promise<string> {
  const { isCancel, log, password, S_BAR, text } = await import('@clack/prompts');
  const { isSecret, check, proposed } = question;
  // The library draws its bar before the first line alone.
  const message = fittedAtBar(question.message).replaceAll('\n', `\n${S_BAR}  `);
  const output = process.stderr;
  const onEmpty = proposed === undefined ? {} : { placeholder: proposed, defaultValue: proposed };
  let isRepeated = false;
  for (let initialValue = question.initial ?? ''; ; ) {
    const answer = isSecret
      ? await password({ message, output })
      : await text({ message, initialValue, ...onEmpty, output });
    if (isCancel(answer)) throw new ClawError('INTERRUPTED', 'Set-up left; nothing was written.');
    const typed = (answer ?? '').trim();
    const problem = await check(typed);
    if (problem === null) return typed;
    log.error(fittedAtBar(isRepeated ? `${problem} ${WAY_OUT}` : problem), { output });
    isRepeated = true;
    initialValue = typed;
    await dropTyped();
  }
}

function askPipe(): SetupContext['ask'] {
  let lines: AsyncIterator<string> | null = null;
  return async ({ message, check, proposed = '' }) => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { done, value } = await lines.next();
    if (done) {
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

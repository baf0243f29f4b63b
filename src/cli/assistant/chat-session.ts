import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ClawError, CliError, ended, type Invocation } from '@patchclaw/claw/cli';
import { historyFile } from '../../supervisor/console/history.ts';
import { interactiveConsole } from '../../supervisor/console/interactive-console.ts';
import type { ChatResult } from '../results.ts';
import { openConversation } from './conversation.ts';
import { findEntry } from './started-assistant.ts';
import { dataDirOf } from './with-assistant.ts';

const PROMPT = '> ';

/**
 * Talks with the assistant on this terminal, until Ctrl-D. Where none runs, starts one here, as `npx claw start`
 * does, which ends with the session.
 */
export async function chatOnTerminal({ root, signal }: Invocation): Promise<ChatResult> {
  const { stdin: input, stdout: output } = process;
  if (!output.isTTY) {
    throw new ClawError(
      'USAGE',
      'A session needs a terminal. Without one, give the words: npx claw chat "…" prints the answers.',
    );
  }
  const dataDir = dataDirOf(root);
  const screen = interactiveConsole({
    input,
    output,
    isStyled: !process.env['NO_COLOR'],
    history: historyFile(join(dataDir, 'history')),
  });
  const view = {
    onAnswer: screen.print,
    onGrowing: screen.grow,
    onProgress: screen.notice,
    onActivity: screen.setActivity,
    onWelcome: (name: string) =>
      screen.notice(`${name} is here. /help lists what you can say; Ctrl-D leaves.`),
  };
  const conversation = await openConversation(dataDir, view, signal);
  if (conversation === null) {
    const exitCode = await startHere(root);
    return { ...DONE, outcome: exitCode === 0 ? 'done' : 'failed' };
  }
  const { promise: left, resolve: onEnd } = Promise.withResolvers<'left'>();
  conversation.watch();
  screen.open(PROMPT, {
    // Whether it is answered shows; that the assistant ended is told below, for all that was said.
    onLine: (text) => void conversation.say(text).catch(() => {}),
    complete: conversation.complete,
    onEnd: () => onEnd('left'),
  });
  const how = await Promise.race([left, conversation.ended]);
  conversation.leave();
  screen.close();
  if (how === 'left') return DONE;
  throw new CliError('ASSISTANT_STOPPED', 'The assistant has ended. `npx claw start` starts it.');
}

const DONE = ended('chat', null);

/**
 * Starts the assistant on this terminal, and returns the exit code of its supervisor. The supervisor owns the
 * terminal, so it is a process of its own, with ours.
 */
export async function startHere(root: string, args: readonly string[] = []): Promise<number> {
  const child = spawn(process.execPath, [findEntry(root), ...args], { stdio: 'inherit' });
  // Ctrl-C reaches the whole terminal group; the supervisor decides what it means.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  // This signal reaches only this process, not the terminal's whole group.
  process.on('SIGTERM', () => void child.kill('SIGTERM'));
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : 1;
}

import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { ClawError, ended, type Invocation, type ResultWith } from '@patchclaw/claw/cli';
import { isLeaving } from '../../supervisor/console/owner-console.ts';
import type { Answers, ChatResult } from '../results.ts';
import { chatOnTerminal } from './chat-session.ts';
import { collectingView } from './view.ts';
import { withAssistant } from './with-assistant.ts';

/**
 * Says something in the owner's chat and prints the answers; `-` at the end adds the piped input. Without words it is
 * a session on a terminal; piped input is said line by line.
 */
export async function chat(invocation: Invocation, words: readonly string[]): Promise<ChatResult> {
  if (words.at(-1) === '-') {
    const piped = (await text(process.stdin)).trimEnd();
    return await sayAll(invocation, [[words.slice(0, -1).join(' '), piped].join('\n\n').trim()]);
  }
  if (words.length > 0) return await sayAll(invocation, [words.join(' ')]);
  if (process.stdin.isTTY !== true) return await sayAll(invocation, pipedLines());
  if (invocation.options.json !== true) return await chatOnTerminal(invocation);
  throw new ClawError('USAGE', 'With --json, give the words: npx claw chat --json "/status"');
}

/**
 * Says one text after the other, each when the one before is answered, or asks for it. The result is `failed` if one
 * of them has no answer.
 */
export async function sayAll(
  invocation: Invocation,
  texts: readonly string[] | AsyncIterable<string>,
): Promise<ResultWith<'chat', Answers>> {
  const view = collectingView({ isQuiet: invocation.options.json === true });
  try {
    const end = await withAssistant(invocation, view, async (conversation) => {
      for await (const text of texts) if (text.trim() !== '') await conversation.tell(text);
      return await conversation.answered();
    });
    const data = { answers: view.answers, end };
    return ended('chat', data, end === 'answered' ? 'done' : 'failed');
  } finally {
    view.end();
  }
}

async function* pipedLines(): AsyncIterable<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (isLeaving(line)) return;
    yield line;
  }
}

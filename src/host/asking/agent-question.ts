import { visible } from '@patchclaw/claw/text';
import type { AgentQuestion } from '../../sandbox/sandbox.ts';
import { oneLine } from '../changes/quoted-text.ts';
import type { AskQuestion } from '../contracts/ask.ts';

/**
 * Makes a question out of a request from a tool in a container. Its words are quoted, so nothing from there can look
 * like the host's own words.
 */
export function questionOfAgent(
  { text, choices, takesText, payload }: AgentQuestion,
  group: { readonly name: string },
): AskQuestion {
  const lines = visible(text).split('\n');
  const quote = lines.map((line) => `> ${line}`).join('\n');
  return {
    text: `A tool of the agent of ${group.name} asks:\n\n${quote}`,
    ...(takesText ? { takesText } : {}),
    choices: choices.map(({ word, label }) => ({ word, label: oneLine(label, 200) })),
    ...(payload === undefined ? {} : { payload }),
  };
}

import { expect, vi } from 'vitest';
import { z } from 'zod';
import type { AskReply } from '../../host/contracts/ask.ts';
import type { Tool, ToolQuestion } from '../../host/contracts/tool.ts';
import type { Toolbox } from '../../host/turns/tool-calls/toolbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  type TestProject,
  textsOf,
} from '../assistant.ts';
import { FAMILY, startWithFamily } from './tasks.ts';

/** No answer, which counts as a no. */
export const NO: AskReply = { word: 'no', isAnswered: false };
/** The answer of a person who chose. */
export const chosen = (word: string): AskReply => ({ word, isAnswered: true });
/** Two choices of a question. */
export const COLOURS = [
  { word: 'red', label: 'red, as before' },
  { word: 'blue', label: 'blue' },
];

/**
 * The family's agent calls a tool for each of these questions at once, and waits for all replies.
 *
 * @param prepare is called before it is asked to
 */
export async function familyAsks(
  project: TestProject,
  questions: readonly ToolQuestion[],
  prepare = (_: Pick<TestAssistant, 'terminal' | 'chat'>): void => {},
) {
  const replies: (AskReply | string)[] = [];
  const tool: Tool = {
    name: 'ask',
    description: 'Asks.',
    isMainOnly: false,
    input: z.object({ number: z.int() }),
    run: async ({ ask }, input) => {
      const { number } = z.object({ number: z.int() }).parse(input);
      const question = questions[number];
      if (question !== undefined) replies[number] = await ask(question);
    },
  };
  const agent: AgentScript = async ({ folder }, { onTool }) => {
    if (folder !== 'family') return answers('of course');
    const calls = questions.map((_, number) => onTool({ folder, name: 'ask', input: { number } }));
    for (const [number, { ok, value }] of (await Promise.all(calls)).entries()) {
      if (!ok) replies[number] = String(value);
    }
    return answers('done');
  };
  const tools: Toolbox = { list: () => [tool], with: () => tools };
  const assistant = await startWithFamily(project, agent, undefined, { tools });
  prepare(assistant);
  const family = (text: string, over = {}) =>
    assistant.chat.say(text, { jid: FAMILY, isDirect: false, sender: 'bob', ...over });
  await family('@Andy go');
  return { ...assistant, family, replies };
}

type Channel = TestAssistant['terminal'];

/** Waits until a channel has sent a text with this in it. */
export const hears = (channel: Channel, part: string) =>
  vi.waitFor(() => expect(textsOf(channel).join('\n\n')).toContain(part));

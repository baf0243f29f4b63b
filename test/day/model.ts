import { setTimeout as delay } from 'node:timers/promises';
import type {
  AnthropicBlock,
  AnthropicRequest,
  AnthropicScript,
} from '../../src/testing/model/anthropic.ts';

type Message = AnthropicRequest['body']['messages'][number];

/** The model's thinking time, in which another message can arrive. */
const THINKING_MS = 40;

/**
 * A model that answers with the tokens of everything said since its last answer, and with the tasks it
 * was given. It schedules what it is asked to be reminded of, and looks into things with a tool.
 */
export const modelOfTheDay: AnthropicScript = async ({ body }) => {
  await delay(THINKING_MS);
  const last = body.messages.findLastIndex(isAnswer);
  const since = body.messages.slice(last + 1);
  const said = since
    .filter(({ role }) => role === 'user')
    .flatMap(textsOf)
    .join('\n');
  const called = since.flatMap(callsOf);
  const wish = wishesIn(said).find(({ key }) => !called.includes(key));
  if (wish !== undefined) return [wish.block];
  return [{ type: 'text', text: answerTo(said, since.some(isTooLate)) }];
};

/** Returns the model's answer. A machine that took longer than a reminder has to be asked for it again. */
function answerTo(said: string, isLate: boolean): string {
  // What it is told was left out counts too: `+7` for seven messages further back than it is shown.
  const tokens = [...said.matchAll(/\bm\d{4}\b|\(and (\d+) more messages/g)].map(([token, more]) =>
    more === undefined ? token : `+${more}`,
  );
  const tasks = [...said.matchAll(/\btask (T\d+)\b/g)].map(([, task]) => task);
  const noted = [...said.matchAll(/\bremind (T\d+) at /g)].map(
    ([, task]) => `${isLate ? 'late' : 'noted'} ${task}`,
  );
  return [['re:', ...tokens].join(' '), ...noted, ...tasks.map((task) => `did ${task}`)].join('; ');
}

type Wish = { readonly key: string; readonly block: AnthropicBlock };

function wishesIn(said: string): readonly Wish[] {
  const reminders = [...said.matchAll(/\bremind (T\d+) at (\S+)/g)].map(([, task, schedule]) => {
    const input = { prompt: `task ${task}`, kind: 'at', schedule };
    return wish('schedule_task', input);
  });
  const looks = [...said.matchAll(/\b(m\d{4}) look into it/g)].map(([, token]) =>
    wish('shell', { command: `sleep 0.2; echo ${token}` }),
  );
  return [...reminders, ...looks];
}

function wish(name: string, input: Readonly<Record<string, unknown>>): Wish {
  return { key: JSON.stringify([name, input]), block: { type: 'tool_use', name, input } };
}

function isAnswer(message: Message): boolean {
  return message.role === 'assistant' && textsOf(message).some((text) => text.startsWith('re:'));
}

function isTooLate({ content }: Message): boolean {
  if (typeof content === 'string') return false;
  return content.some(
    (block) => block.type === 'tool_result' && / is past: /.test(JSON.stringify(block)),
  );
}

function textsOf({ content }: Message): readonly string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
}

function callsOf({ role, content }: Message): readonly string[] {
  if (role !== 'assistant' || typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_use' ? [JSON.stringify([block['name'], block['input']])] : [],
  );
}

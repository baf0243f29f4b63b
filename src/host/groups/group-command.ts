import type { Group, Store } from '../../store/store.ts';
import type { CommandResult } from '../contracts/command.ts';
import type { Choice } from '../contracts/question.ts';
import { joined, longestMatchingPrefix, type Word, wordsOf } from './command-words.ts';
import { GroupRefused, labelOf, SeveralFit } from './group-refused.ts';
import type { Registry } from './registry.ts';
import { ALWAYS, BY_NAME, type Trigger } from './trigger.ts';

/**
 * Runs a command about groups; a refusal is its answer.
 *
 * @param typed the command as typed, without the slash: where a name in it fits several chats, the
 *   owner chooses one and it runs with that. Left out by commands that may not ask.
 */
export async function answerOrRefusal(
  run: () => Promise<CommandResult>,
  typed?: string,
): Promise<CommandResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SeveralFit && typed !== undefined) return whichOne(error, typed);
    if (error instanceof GroupRefused) return { kind: 'answer', text: error.message };
    throw error;
  }
}

function whichOne({ typed: name, chats }: SeveralFit, typed: string): CommandResult {
  const [command, ...words] = wordsOf(typed);
  const length = words.findIndex((_, index) => joined(words.slice(0, index + 1)) === name) + 1;
  const rest = words.slice(length).map(({ text, isQuoted }) => (isQuoted ? `"${text}"` : text));
  const choices: Choice[] = chats.map((chat) => ({
    word: chat.jid,
    label: labelOf(chat),
    run: [`/${command?.text} "${chat.jid}"`, ...rest].join(' '),
  }));
  choices.push({ word: 'no', label: 'none of them', run: null });
  return {
    kind: 'ask',
    text: `Several chats fit ${name}. Which one?`,
    data: null,
    choices,
    declined: `\`/${typed.trim()}\` was not run.`,
  };
}

/**
 * Returns the registered group that a command begins with, and the words after it.
 *
 * @throws GroupRefused when the words name none, SeveralFit when they fit several
 */
export function groupAndRest(
  { store, registry }: { readonly store: Store; readonly registry: Registry },
  words: readonly Word[],
): { readonly group: Group; readonly rest: readonly Word[] } {
  const found = longestMatchingPrefix(words, (typed) => {
    const chat = registry.find(typed, 'registered');
    return chat === null ? null : store.groups.byJid(chat.jid);
  });
  if (found !== null) return { group: found.meant, rest: found.rest };
  const typed = words[0]?.text ?? '';
  throw new GroupRefused(
    `No registered chat ${/^\d+$/.test(typed) ? 'has the number' : 'is called'} ${typed}. \`/groups\` lists them with their numbers.`,
  );
}

/** `always`, `default`, or the words that call the assistant. */
export function triggerOf(words: readonly Word[]): Trigger {
  const [only, another] = words;
  if (only !== undefined && another === undefined && !only.isQuoted) {
    if (only.text.toLowerCase() === 'always') return ALWAYS;
    if (only.text.toLowerCase() === 'default') return BY_NAME;
  }
  return { needsTrigger: true, triggerWord: words.map(({ text }) => text).join(' ') };
}

import type { Group, Store } from '../store/store.ts';
import type { CommandResult } from './command.ts';
import { GroupRefused } from './group-refused.ts';
import type { Registry } from './registry.ts';
import { ALWAYS, BY_NAME, type Trigger } from './trigger.ts';
import { longestMeant, type Word } from './words.ts';

/** Runs a command about groups; a refusal is its answer. */
export async function answerOrRefusal(run: () => Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GroupRefused) return { kind: 'answer', text: error.message };
    throw error;
  }
}

/**
 * The registered group that a command begins with, and the words behind it.
 *
 * @throws GroupRefused when the words name none
 */
export function groupAndRest(
  { store, registry }: { readonly store: Store; readonly registry: Registry },
  words: readonly Word[],
): { readonly group: Group; readonly rest: readonly Word[] } {
  const found = longestMeant(words, (typed) => {
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

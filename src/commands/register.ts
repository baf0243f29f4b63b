import { z } from 'zod';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../host/contracts/command.ts';
import { joined, longestMatchingPrefix, type Word, wordsOf } from '../host/groups/command-words.ts';
import { folderNameLike } from '../host/groups/folder-name.ts';
import { answerOrRefusal, triggerOf } from '../host/groups/group-command.ts';
import { FolderLeft, GroupRefused } from '../host/groups/group-refused.ts';
import { ALWAYS, describeTrigger, type Trigger } from '../host/groups/trigger.ts';
import type { Chat } from '../store/store.ts';

const USAGE =
  'Say `/register 3`, or `/register Family Chat as family trigger @home`; `always` instead of a trigger answers everything. `/groups` lists the chats.';

/** Chats that Tab offers, newest first; `/register` and a name finds the others. */
const MOST_COMPLETED = 100;

const Asked = z.object({
  jid: z.string(),
  folder: z.string(),
  trigger: z.object({ needsTrigger: z.boolean(), triggerWord: z.string().nullable() }).nullable(),
});

export const command = defineCommand({
  scope: 'owner',
  name: 'register',
  topic: 'chats',
  help: 'join a chat: `/register 3 [as <folder>] [trigger <word> | always]`',
  complete: ({ store }) =>
    store.chats
      .unregistered(MOST_COMPLETED)
      .flatMap(({ name }) => (name === null ? [] : [name.trim()])),
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const { chat, options } = readWords(context, wordsOf(argument));
      return register(context, { chat, ...options });
    }, `register ${argument}`),
  confirm: (context, data) =>
    answerOrRefusal(async () => {
      const { jid, ...wanted } = Asked.parse(data);
      const chat = context.store.chats.byJid(jid);
      if (chat === null) throw new GroupRefused('That chat is not known any more.');
      return answer(context, context.registry.register({ chat, ...wanted, mayTakeOver: true }));
    }),
});

type Options = { readonly folder: string | null; readonly trigger: Trigger | null };

function register(
  context: CommandContext,
  wanted: Options & { readonly chat: Chat },
): CommandResult {
  try {
    return answer(context, context.registry.register({ ...wanted, mayTakeOver: false }));
  } catch (error) {
    if (!(error instanceof FolderLeft)) throw error;
    const { chat, trigger } = wanted;
    const { folder } = error;
    const name = chat.name ?? chat.jid;
    return {
      kind: 'ask',
      text: `groups/${folder} holds files and memory of an earlier chat, which ${name} would get to see. Give them to ${name}?`,
      data: { jid: chat.jid, folder, trigger },
      declined: `${name} was not registered. Choose another folder: \`/register ${name} as …\`.`,
    };
  }
}

function answer(
  { settings }: CommandContext,
  group: Trigger & { readonly name: string; readonly folder: string },
): CommandResult {
  const how = describeTrigger(group, settings.assistantName);
  return {
    kind: 'answer',
    text: `${group.name} is registered, with the folder groups/${group.folder}. ${settings.assistantName} ${how} there.`,
  };
}

/** Reads the longest beginning that is a chat and leaves options that can be read. */
function readWords(
  { registry, channels }: CommandContext,
  words: readonly Word[],
): { readonly chat: Chat; readonly options: Options } {
  if (words.length === 0) throw new GroupRefused(USAGE);
  const found = longestMatchingPrefix(words, (typed) => registry.find(typed, 'reachable'));
  if (found !== null) return { chat: found.meant, options: optionsOf(found.rest) };
  const end = words.findIndex((word, index) => index > 0 && keywordOf(word) !== null);
  const name = joined(end === -1 ? words : words.slice(0, end));
  const missing = channels().flatMap((channel) => channel.missingIn(name) ?? []);
  if (missing.length > 0) throw new GroupRefused(missing.join(' '));
  throw new GroupRefused(
    /^\d+$/.test(name)
      ? `There is no chat with the number ${name}. \`/groups\` lists them.`
      : `No chat is called ${name}. It shows in \`/groups\` once something was said there.`,
  );
}

function keywordOf({ text, isQuoted }: Word): 'as' | 'trigger' | 'always' | null {
  const word = text.toLowerCase();
  return !isQuoted && (word === 'as' || word === 'trigger' || word === 'always') ? word : null;
}

function optionsOf(words: readonly Word[]): Options {
  let options: Options = { folder: null, trigger: null };
  for (let index = 0; index < words.length; ) {
    const [word, ...others] = words.slice(index);
    const keyword = word === undefined ? null : keywordOf(word);
    const length = others.findIndex((other) => keywordOf(other) !== null);
    const values = length === -1 ? others : others.slice(0, length);
    index += values.length + 1;
    if (keyword === 'always' && values.length === 0) options = { ...options, trigger: ALWAYS };
    else if (keyword === 'trigger' && values.length > 0) {
      options = { ...options, trigger: triggerOf(values) };
    } else if (keyword === 'as' && values.length > 0) {
      options = { ...options, folder: folderOf(joined(values)) };
    } else throw new GroupRefused(`“${joined(words)}” is not understood. ${USAGE}`);
  }
  return options;
}

/** Turns upper case into lower case; for any other misfit the owner has to choose a new name. */
function folderOf(typed: string): string {
  const folder = typed.toLowerCase();
  const fitting = folderNameLike(typed);
  if (folder === fitting || fitting === '') return folder;
  throw new GroupRefused(
    `A folder's name is made of a-z, 0-9 and dashes. Try \`as ${fitting.slice(0, 63)}\`.`,
  );
}

import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { privateGroups, setPrivateGroup } from '../host/inbound-path/private-answers.ts';
import type { Group } from '../store/store.ts';

const USAGE =
  'Say `/private on` in a group to have every answer there given in private, and `/private off` to end that. From your own chat: `/private 2 on`. For one question, call me and put `/private` or “answer me in private” into it.';

export const command = defineCommand({
  scope: 'owner',
  name: 'private',
  topic: 'chats',
  help: 'answer questions of a group in private: `/private on`, `/private off`, or `/private 2 on` for chat 2; `/private` lists the groups',
  chats: 'all',
  isQuick: true,
  complete: ({ store }) =>
    store.groups
      .all()
      .flatMap(({ name, isMain }) => (isMain ? [] : [`${name.trim()} on`, `${name.trim()} off`])),
  run: (context, argument) =>
    answerOrRefusal(async () => ({ kind: 'answer', text: done(context, wordsOf(argument)) })),
});

function done(context: CommandContext, words: readonly Word[]): string {
  const { store } = context;
  if (words.length === 0) return listOf(context);
  const { group, rest } = placeOf(context, words);
  const [word, another] = rest.map(({ text }) => text.toLowerCase());
  if ((word !== 'on' && word !== 'off') || another !== undefined) throw new GroupRefused(USAGE);
  if (group.isMain || store.chats.byJid(group.jid)?.isDirect === true) {
    throw new GroupRefused(`${group.name} is not a group: what I answer there is private already.`);
  }
  setPrivateGroup(store, group.folder, word === 'on');
  return word === 'on'
    ? `From now on I answer everybody in ${group.name} in private, where we have a chat of our own.`
    : `From now on I answer in ${group.name} itself. Who wants a private answer asks for it.`;
}

/** Returns the group that is meant, and the words after it: the one where it is said, unless another is named. */
function placeOf(context: CommandContext, words: readonly Word[]) {
  const [first] = words;
  const isHere = !context.group.isMain && /^(on|off)$/i.test(first?.text ?? '');
  const found: { readonly group: Group; readonly rest: readonly Word[] } = isHere
    ? { group: context.group, rest: words }
    : context.group.isMain && !/^(on|off)$/i.test(first?.text ?? '')
      ? groupAndRest(context, words)
      : refuse();
  return found;
}

function refuse(): never {
  throw new GroupRefused(USAGE);
}

function listOf({ store }: CommandContext): string {
  const folders = privateGroups(store.meta);
  const names = store.groups.all().filter(({ folder }) => folders.includes(folder));
  if (names.length === 0) return `Nowhere is every answer private. ${USAGE}`;
  return `Every answer is private in ${names.map(({ name }) => name).join(', ')}. ${USAGE}`;
}

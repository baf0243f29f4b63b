import { z } from 'zod';
import { registeredNames } from '../host/command-completion.ts';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../host/contracts/command.ts';
import { joined, type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';

const Asked = z.object({ jid: z.string() });

export const command = defineCommand({
  scope: 'owner',
  name: 'unregister',
  topic: 'chats',
  help: 'leave a chat and keep its folder; `/unregister 2 delete` deletes all of it',
  complete: registeredNames,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const words = wordsOf(argument);
      if (words.length === 0) throw new GroupRefused('Say `/unregister 2`, or a name instead.');
      const doomed = toDelete(context, words);
      if (doomed !== null) return doomed;
      const { group, rest } = groupAndRest(context, words);
      if (rest.length > 0) throw new GroupRefused(`“${joined(rest)}” is not understood.`);
      await context.registry.unregister(group);
      return {
        kind: 'answer',
        text: `${group.name} is not listened to any more. groups/${group.folder} stays; \`/register ${group.name}\` takes it up again.`,
      };
    }, `unregister ${argument}`),
  confirm: (context, data) =>
    answerOrRefusal(async () => {
      const { jid } = Asked.parse(data);
      const name = nameOf(context, jid);
      await context.registry.remove(jid);
      return { kind: 'answer', text: `Everything of ${name} is deleted.` };
    }),
});

/** Asks before a chat is deleted that `… delete` means; null where something else was said. */
function toDelete(context: CommandContext, words: readonly Word[]): CommandResult | null {
  const { store, registry } = context;
  const last = words.at(-1);
  if (words.length < 2 || last?.isQuoted !== false || last.text.toLowerCase() !== 'delete') {
    return null;
  }
  const found = registry.find(joined(words.slice(0, -1)), 'known');
  if (found === null) return null;
  const { jid } = found;
  const group = store.groups.byJid(jid);
  if (group?.isMain) throw new GroupRefused('Your own chat cannot be taken out.');
  const folder = group?.folder ?? store.folders.of(jid);
  const name = nameOf(context, jid);
  if (folder === null) throw new GroupRefused(`Nothing is kept of ${name}.`);
  return {
    kind: 'ask',
    text: `This deletes everything of ${name}: its messages, its tasks, its conversation, what its agent remembers, and all files in groups/${folder}. It cannot be taken back. Delete it?`,
    data: { jid },
    declined: `Nothing of ${name} was deleted.`,
  };
}

function nameOf({ store }: CommandContext, jid: string): string {
  return store.groups.byJid(jid)?.name ?? store.chats.byJid(jid)?.name ?? jid;
}

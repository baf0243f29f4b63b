import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../host/contracts/command.ts';
import { joined, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import type { Group } from '../store/store.ts';

const ALL = 'all';

export const command = defineCommand({
  scope: 'owner',
  name: 'retry',
  topic: 'conversation',
  help: 'ask again what failed last in this chat; `/retry 2` in chat 2, `/retry all` in all chats',
  complete: ({ store }) => [ALL, ...store.groups.all().map(({ name }) => name.trim())],
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const [first, ...others] = wordsOf(argument);
      if (first === undefined) return retry(context, context.group);
      const isAll = others.length === 0 && !first.isQuoted && first.text.toLowerCase() === ALL;
      if (isAll) return retryAll(context);
      const { group, rest } = groupAndRest(context, [first, ...others]);
      if (rest.length > 0) {
        throw new GroupRefused(
          `\`/retry\` takes one chat, and does not know “${joined(rest)}” after it.`,
        );
      }
      return retry(context, group);
    }, `retry ${argument}`),
});

function retry(context: CommandContext, { jid, name }: Group): CommandResult {
  const isHere = jid === context.group.jid;
  if (context.retryFailed(jid) > 0) {
    return isHere
      ? { kind: 'answer', text: 'Trying again.', isAnsweredLater: true }
      : { kind: 'answer', text: `Trying again in ${name}.` };
  }
  const failed = failedIn(context);
  const where = isHere ? 'here' : `in ${name}`;
  const text =
    failed.length === 0
      ? 'Nothing has failed that could be tried again.'
      : `Nothing has failed ${where} that could be tried again. Something has failed in ${failed.join(', ')}: say \`/retry\` with the chat's name, or \`/retry all\`.`;
  return { kind: 'answer', text };
}

function retryAll(context: CommandContext): CommandResult {
  const isHere = context.store.turns.failed().some(({ jid }) => jid === context.group.jid);
  const count = context.retryFailed(null);
  if (count === 0) {
    return { kind: 'answer', text: 'Nothing has failed that could be tried again.' };
  }
  const text = count === 1 ? 'Trying again.' : `Trying ${count} chats again.`;
  return { kind: 'answer', text, ...(isHere ? { isAnsweredLater: true } : {}) };
}

/** Names the chats whose last question failed. */
function failedIn({ store }: CommandContext): readonly string[] {
  return store.turns.failed().map(({ jid }) => store.groups.byJid(jid)?.name ?? jid);
}

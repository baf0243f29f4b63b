import { registeredNames } from '../host/command-completion.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest, triggerOf } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { describeTrigger } from '../host/groups/trigger.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'trigger',
  topic: 'chats',
  help: 'set the word that calls me in a chat: `/trigger 2 @home`, `/trigger 2 always` or `/trigger 2 default`',
  complete: (context) => registeredNames(context).map((name) => `${name} `),
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const { registry, store, settings } = context;
      const words = wordsOf(argument);
      if (words.length === 0)
        throw new GroupRefused('Say `/trigger 2 @home`, `always` or `default`.');
      const { group, rest } = groupAndRest(context, words);
      if (group.isMain) throw new GroupRefused('Your own chat needs no trigger.');
      if (rest.length > 0) registry.setTrigger(group, triggerOf(rest));
      const { name, ...now } = store.groups.byJid(group.jid) ?? group;
      const how = describeTrigger(now, settings.assistantName);
      return { kind: 'answer', text: `${settings.assistantName} ${how} in ${name}.` };
    }, `trigger ${argument}`),
});

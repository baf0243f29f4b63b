import { registeredNames } from '../host/command-completion.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { joined, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'reset',
  topic: 'conversation',
  help: 'begin a new conversation here, or in the chat you name; what is written down stays',
  complete: registeredNames,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const { store, newId, now } = context;
      const words = wordsOf(argument);
      const named = words.length === 0 ? null : groupAndRest(context, words);
      if (named !== null && named.rest.length > 0) {
        throw new GroupRefused(`“${joined(named.rest)}” is not understood.`);
      }
      // Commands come from the owner's own chats, which have one conversation together.
      const folder = named?.group.folder ?? 'main';
      store.sessions.reset(folder, newId(), now());
      const count = store.turns.leaveBehind(folder);
      const dropped =
        count === 0
          ? ''
          : ' Questions that had no answer are dropped; say them again if you want one.';
      const where = named === null || named.group.isMain ? '' : ` in ${named.group.name}`;
      return {
        kind: 'answer',
        text: `The next message${where} begins a new conversation. What is written down in groups/${folder} stays, and what was said can be searched. What is being worked on now is still answered.${dropped}`,
      };
    }, `reset ${argument}`),
});

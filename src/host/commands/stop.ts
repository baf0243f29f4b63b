import type { OwnerCommand } from '../command.ts';
import { answerOrRefusal, groupAndRest } from '../group-command.ts';
import { GroupRefused } from '../group-refused.ts';
import { joined, wordsOf } from '../words.ts';

export const command: OwnerCommand = {
  name: 'stop',
  help: 'ends what the agent is doing here, or in the chat with that number or name',
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const words = wordsOf(argument);
      const named = words.length === 0 ? null : groupAndRest(context, words);
      if (named !== null && named.rest.length > 0) {
        throw new GroupRefused(`“${joined(named.rest)}” is not understood.`);
      }
      const where = named === null || named.group.isMain ? 'here' : `in ${named.group.name}`;
      if (context.cancelTurns(named?.group.folder ?? 'main') === 0) {
        return { kind: 'answer', text: `The agent is not at work ${where}.` };
      }
      return { kind: 'answer', text: `Stopping the agent ${where}.` };
    }),
};

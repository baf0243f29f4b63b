import { registeredNames } from '../host/command-completion.ts';
import type { CancelledCommand } from '../host/contracts/command.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { joined, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'stop',
  topic: 'conversation',
  help: 'stop the agent here, or a `/pair`; `/stop 2` stops the agent of chat 2',
  complete: registeredNames,
  isQuick: true,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const words = wordsOf(argument);
      const named = words.length === 0 ? null : groupAndRest(context, words);
      if (named !== null && named.rest.length > 0) {
        throw new GroupRefused(`“${joined(named.rest)}” is not understood.`);
      }
      const where = named === null || named.group.isMain ? 'here' : `in ${named.group.name}`;
      if (context.cancelTurns(named?.group.folder ?? 'main') > 0) {
        return {
          kind: 'answer',
          text: where === 'here' ? 'Stopped.' : `Stopped the agent ${where}.`,
        };
      }
      const command = named === null ? context.cancelCommand() : null;
      const text = command === null ? `The agent is not at work ${where}.` : textOf(command);
      return { kind: 'answer', text };
    }),
});

function textOf({ name, isCancelled }: CancelledCommand): string {
  return isCancelled
    ? `Stopping ${name}.`
    : `${name} is at work and cannot be stopped half way: what it does ends as a whole or not at all.`;
}

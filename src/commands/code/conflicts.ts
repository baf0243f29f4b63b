import { answerQuestion, decideOne, giveUp } from '../../host/changes/answer-question.ts';
import { answer } from '../../host/changes/change.ts';
import { readArguments } from '../../host/changes/change-arguments.ts';
import { refusalOf } from '../../host/changes/refusal.ts';
import { reportChange } from '../../host/changes/report.ts';
import { resumeOperation } from '../../host/changes/resume-operation.ts';
import { operationName, readWaiting } from '../../host/changes/waiting-operation.ts';
import { defineCommand } from '../../host/contracts/command.ts';

const USAGE =
  'Say `/conflicts` to go on with the change that waits, `/conflicts <file> <choice>` to decide one file, or `/conflicts give up` to forget it.';

export const command = defineCommand({
  scope: 'owner',
  name: 'conflicts',
  topic: 'code',
  help: 'continue a change that waits for your decision; `/conflicts give up` discards it, `/conflicts src/a.ts telegram` decides one file',
  complete: () => ['give up'],
  async run(context, argument) {
    const said = argument.trim().toLowerCase();
    if (said === 'give up' || said === 'abort') return await giveUp(context);
    const given = readArguments(argument);
    if (given === null || given.words.length > 0) {
      return (await decideOne(context, argument.trim())) ?? answer(USAGE);
    }
    return await resumeOperation(context, { isFresh: false, allow: given.allow });
  },
  confirm: answerQuestion,
  resume: reportChange,
  async look(context) {
    const waiting = await readWaiting(context);
    if (waiting === null) return 'Nothing waits for a decision.';
    if ('exitCode' in waiting) return refusalOf(waiting) ?? '';
    const lines = waiting.conflicts.map(
      ({ path, layers, reason, decision }) =>
        `- ${path}, ${layers.join(' against ')}: ${reason} ${decision === null ? 'open' : 'decided'}`,
    );
    return `"${operationName(waiting)}" waits for the owner's decision:\n${lines.join('\n')}`;
  },
});

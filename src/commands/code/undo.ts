import { UndoData } from '@patchclaw/claw/contract';
import { answer, readTree } from '../../host/changes/change.ts';
import {
  carryOutChange,
  type PreviewedChange,
  PreviewedRequest,
  previewChange,
  proposeChange,
} from '../../host/changes/preview.ts';
import { pendingText } from '../../host/changes/refusal.ts';
import { reportChange } from '../../host/changes/report.ts';
import { type ClawResult, dataBy } from '../../host/contracts/claw.ts';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'undo',
  topic: 'code',
  help: 'take back the last change of the code, after showing what goes',
  takesNothing: true,
  isForAgents: true,
  async run(context) {
    const { pending } = await readTree(context);
    // It was planned on what would be taken back, and what was decided on it would be lost.
    if (pending !== null && pending.verb !== 'undo') {
      return answer(pendingText({ verb: pending.verb, args: pending.arguments }));
    }
    return await show(context, '');
  },
  async propose(context) {
    const { pending } = await readTree(context);
    return pending === null ? await proposeChange(context, WISH) : null;
  },
  confirm(context, data) {
    return carryOutChange(context, PreviewedRequest.parse(data), (note) => show(context, note));
  },
  resume: reportChange,
});

const WISH: PreviewedChange = {
  verb: 'undo',
  args: [],
  title: titleOf,
  asks: 'always',
  typed: '/undo',
  question: 'Undo it?',
  declined: 'Nothing was undone.',
};

function show(context: CommandContext, note: string): Promise<CommandResult> {
  return previewChange(context, WISH, note);
}

function titleOf(plan: ClawResult): string {
  const undone = dataBy(UndoData, plan)?.undone;
  return undone === undefined ? 'Undoing the last change:' : `Undoing \`${undone}\`:`;
}

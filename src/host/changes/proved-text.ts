import { CarriedData } from '@patchclaw/claw/contract';
import { type ClawResult, dataBy } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';
import { holder } from './conflicts/conflict-choices.ts';
import { valueText } from './conflicts/conflict-text.ts';
import { planLines } from './plan.ts';
import { quoted } from './quoted.ts';
import { operationName, type WaitingConflict, type WaitingOperation } from './waiting.ts';

const DIFF_LINES = 14;
const SHOWN_FILES = 4;

/**
 * Returns the text before a commit: the decided lines as short diffs, the proof, and all that the change
 * brings.
 */
export function provedText(
  { isSet }: Pick<CommandContext, 'isSet'>,
  waiting: WaitingOperation,
  result: ClawResult,
): string {
  const decided = waiting.conflicts.filter(({ decision }) => decision !== null);
  const more = decided.length - SHOWN_FILES;
  return [
    ...decided.slice(0, SHOWN_FILES).map(decisionText),
    ...(more > 0 ? [`And ${more} more: \`npx claw conflicts\` names them.`] : []),
    ...result.warnings.map((warning) => `Note: ${warning}`),
    `${proofText(waiting, result)}\n${planLines(result, isSet)}`,
    `Carry “${operationName(waiting)}” out?`,
  ].join('\n\n');
}

function proofText({ verb }: WaitingOperation, result: ClawResult): string {
  if (verb === 'undo') return 'An undo needs no proof.';
  const proof = dataBy(CarriedData, result)?.proof;
  const { checks, tests: ofSkills, own } = proof ?? { checks: 0, tests: 0, own: 0 };
  const tests = ofSkills + own;
  const ran = [
    ...(checks > 0 ? [checks === 1 ? '1 check' : `${checks} checks`] : []),
    ...(tests > 0 ? [tests === 1 ? '1 test file' : `${tests} test files`] : []),
  ];
  if (ran.length === 0) return 'There are no checks and no tests to prove it.';
  return `Proved: ${ran.join(' and ')} ${checks + tests === 1 ? 'passes' : 'pass'}.`;
}

function decisionText({ path, decision, layers }: WaitingConflict): string {
  if (decision === null) return '';
  const who = decision.origin === 'owner' ? 'You decided' : `${decision.origin} proposes`;
  if (decision.patch === null) {
    return `${who} for \`${path}\`: \`${valueText(decision.value).replaceAll('`', "'")}\``;
  }
  const lines = decision.patch.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  if (start === -1) return `${who} for \`${path}\`: it stays as ${holder(layers[0])} it.`;
  return `${who} for \`${path}\`, against ${layers[0]}:\n${quoted(lines.slice(start).join('\n'), DIFF_LINES, 'diff')}`;
}

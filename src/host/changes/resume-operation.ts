import { ContinueData, TreeChangeData } from '@patchclaw/claw/contract';
import { z } from 'zod';
import { type ClawResult, dataBy } from '../contracts/claw.ts';
import type { CommandContext, CommandResult } from '../contracts/command.ts';
import { answer, beginChange } from './change.ts';
import { runClawWithProgress } from './claw-with-progress.ts';
import { choicesAt, choicesFor, holder } from './conflicts/conflict-choices.ts';
import { conflictText, placeQuestion, valueText } from './conflicts/conflict-text.ts';
import { planLines } from './plan.ts';
import { quoted } from './quoted-text.ts';
import { consentNeeded, consentText, isBlocked, refusalOf } from './refusal.ts';
import {
  NOT_WAITING,
  operationName,
  readWaiting,
  STILL_WAITING,
  type WaitingConflict,
  type WaitingOperation,
} from './waiting-operation.ts';

/** Data that a question about a waiting operation keeps until it is answered. */
export const Asked = z.object({
  operation: z.string(),
  allow: z.array(z.string()).default([]),
  step: z.discriminatedUnion('kind', [
    /** The first of these paths is asked about. */
    z.object({
      kind: z.literal('choose'),
      paths: z.array(z.string()),
      total: z.int(),
      /** Where it is decided place by place: the numbers chosen for its first places. */
      numbers: z.array(z.int()).nullable().default(null),
    }),
    z.object({
      kind: z.literal('commit'),
      plan: z.string().nullable(),
      seen: z.array(z.string()),
    }),
  ]),
});

/** Options for resuming an operation that waits. */
export type ResumeOptions = {
  /** It was blocked just now: the model is asked before the owner is. Else it is planned again first. */
  readonly isFresh: boolean;
  /** Paths that the owner named because they run or steer programs. */
  readonly allow?: readonly string[];
  /** Said first. */
  readonly note?: string;
  /** Said before a conflict that planning again has brought. */
  readonly blockedNote?: string;
};

/**
 * Continues a waiting operation: the model proposes where it is asked to, decisions are proved and shown for the
 * owner's yes, and open conflicts are asked about, one after the other.
 */
export async function resumeOperation(
  context: CommandContext,
  way: ResumeOptions,
): Promise<CommandResult> {
  const waiting = await readWaiting(context);
  if (waiting === null) return answer(joined(way.note, 'Nothing waits for a decision.'));
  if ('exitCode' in waiting) return answer(joined(way.note, refusalOf(waiting) ?? ''));
  beginChange(context, waiting);
  const open = waiting.conflicts.filter(({ decision }) => decision === null);
  if (open.length === 0 || !way.isFresh) return await showProved(context, waiting, way);
  const canAsk = context.model.problem() === null && open.every((one) => one.decidable);
  if (!canAsk) return askAbout(context, waiting, { ...way, paths: pathsOf(open) });
  context.say(joined(way.note, blockedText(waiting)));
  const proposed = await runClawWithProgress(context, ['resolve', '--agent']);
  const decided = proposed.ok ? await readWaiting(context) : waiting;
  if (decided === null || 'exitCode' in decided) return answer(NOT_WAITING);
  if (proposed.ok) return await showProved(context, decided, { ...way, note: '' });
  const note = `The agent found no solution: ${refusalOf(proposed)}`;
  return askAbout(context, waiting, { ...way, note, paths: pathsOf(open) });
}

/** Proves what is decided, and asks whether it is to be; what does not hold is decided again. */
async function showProved(
  context: CommandContext,
  waiting: WaitingOperation,
  way: ResumeOptions,
): Promise<CommandResult> {
  if (way.note) context.say(way.note);
  const { allow = [] } = way;
  const named = allow.flatMap((path) => ['--allow', path]);
  const result = await runClawWithProgress(context, ['continue', '--prove', ...named]);
  if (isBlocked(result)) return await askAboutOpen(context, way);
  const refusal = refusalOf(result);
  if (refusal !== null) {
    const doesNotHold = FAILED.includes(result.error?.code ?? '');
    const unnamed = consentNeeded(result);
    if (unnamed.length > 0) return answer(consentText(unnamed, '/conflicts'));
    if (!doesNotHold) return answer(`${refusal}\n\n${STILL_WAITING}`);
    const note = `What was decided did not pass. ${refusal}`;
    return askAbout(context, waiting, { ...way, paths: pathsOf(waiting.conflicts), note });
  }
  const plan = dataBy(ContinueData, result)?.plan ?? null;
  return {
    kind: 'ask',
    text: provedText(context, waiting, result),
    command: 'conflicts',
    data: {
      operation: operationName(waiting),
      allow,
      step: { kind: 'commit', plan, seen: result.warnings },
    },
    choices: [
      { word: 'yes', label: 'yes' },
      { word: 'no', label: 'no' },
      { word: 'give up', label: 'give up' },
    ],
    declined: declined(waiting),
  };
}

const FAILED = ['CHECKS_FAILED', 'TESTS_FAILED', 'NPM_FAILED'];

async function askAboutOpen(context: CommandContext, way: ResumeOptions): Promise<CommandResult> {
  const waiting = await readWaiting(context);
  if (waiting === null || 'exitCode' in waiting) return answer(NOT_WAITING);
  const open = waiting.conflicts.filter(({ decision }) => decision === null);
  return askAbout(context, waiting, { ...way, note: way.blockedNote ?? '', paths: pathsOf(open) });
}

const DIFF_LINES = 14;
const SHOWN_FILES = 4;

/**
 * Returns the text before a commit: the decided lines as short diffs, the proof, and all that the change
 * brings.
 */
function provedText(
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
  const proof = dataBy(TreeChangeData, result)?.proof;
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

/** The conflicts to ask about, and their number at first. */
export type Asking = ResumeOptions & {
  readonly paths: readonly string[];
  readonly total?: number;
  /** The numbers chosen for the first places of the first conflict; null to ask about it as a whole. */
  readonly numbers?: readonly number[] | null;
};

/** Asks about the first of these conflicts. */
export function askAbout(
  { model }: CommandContext,
  waiting: WaitingOperation,
  { paths, total = paths.length, numbers = null, allow = [], note }: Asking,
): CommandResult {
  const [path] = paths;
  const conflict = waiting.conflicts.find((one) => one.path === path);
  if (conflict === undefined) return answer(NOT_WAITING);
  const at = numbers?.length ?? null;
  const choices =
    at === null ? choicesFor(conflict, model.problem() === null) : choicesAt(conflict, at);
  const question = at === null ? conflictText(conflict) : placeQuestion(conflict, at);
  const count = total > 1 ? `${total - paths.length + 1} of ${total}: ` : '';
  return {
    kind: 'ask',
    text: joined(note, `${count}${question}`),
    command: 'conflicts',
    data: {
      operation: operationName(waiting),
      allow,
      step: { kind: 'choose', paths, total, numbers },
    },
    choices,
    mayBeForAll: paths.length > 1 && conflict.decidable && at === null,
    declined: declined(waiting),
  };
}

function blockedText(waiting: WaitingOperation): string {
  const { conflicts } = waiting;
  const lines = conflicts.map(({ path, layers }) => `- \`${path}\`, ${layers.join(' against ')}`);
  const what = conflicts.length === 1 ? 'one conflict' : `${conflicts.length} conflicts`;
  return `“${operationName(waiting)}” meets ${what}:\n${lines.join('\n')}\n\nNothing is changed. The agent is looking for a solution.`;
}

function declined(waiting: WaitingOperation): string {
  return `“${operationName(waiting)}” waits: \`/conflicts\` goes on with it, \`/conflicts give up\` forgets it.`;
}

/** Conflicts by their paths. */
export function pathsOf(conflicts: readonly WaitingConflict[]): readonly string[] {
  return conflicts.map(({ path }) => path);
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

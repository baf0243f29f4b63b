import type { CommandContext, CommandResult } from '../contracts/command.ts';
import type { Reply } from '../contracts/question.ts';
import { answer, beginChange, carryOut } from './change.ts';
import { runClawWithProgress } from './claw-with-progress.ts';
import { numberAt, PLACES, resolveArgs } from './conflicts/conflict-choices.ts';
import { refusalOf } from './refusal.ts';
import {
  Asked,
  askAbout,
  pathsOf,
  type ResumeOptions,
  resumeOperation,
} from './resume-operation.ts';
import {
  NOT_WAITING,
  operationName,
  PLANNED_AGAIN,
  readWaiting,
  STILL_WAITING,
  type WaitingConflict,
  type WaitingOperation,
} from './waiting-operation.ts';

/** Goes on after the owner's answer. */
export async function answerQuestion(
  context: CommandContext,
  data: unknown,
  reply: Reply,
): Promise<CommandResult> {
  const { operation, allow, step } = Asked.parse(data);
  const waiting = await readWaiting(context);
  if (waiting === null) return answer(NOT_WAITING);
  if ('exitCode' in waiting) return answer(refusalOf(waiting) ?? '');
  if (operationName(waiting) !== operation) {
    return answer(`${NOT_WAITING} “${operationName(waiting)}” does: say \`/conflicts\`.`);
  }
  beginChange(context, waiting);
  if (reply.word === 'give up') return await giveUp(context);
  const way = { isFresh: false, allow };
  if (step.kind === 'choose') return await choose(context, waiting, { ...way, ...step, reply });
  if (reply.word === 'yes') return await commit(context, waiting, { ...way, ...step });
  const paths = pathsOf(waiting.conflicts);
  return askAbout(context, waiting, { ...way, paths, note: 'Then decide yourself.' });
}

/**
 * Decides one conflict in the words of its choices, in any order: `src/a.ts telegram`, `src/a.ts value 8080`, or
 * place by place, `src/a.ts 2,1`. Then asks about the next open one, or proves the decisions.
 *
 * @returns null where no conflict is named
 */
export async function decideOne(
  context: CommandContext,
  said: string,
): Promise<CommandResult | null> {
  const waiting = await readWaiting(context);
  if (waiting === null) return answer('Nothing waits for a decision.');
  if ('exitCode' in waiting) return answer(refusalOf(waiting) ?? '');
  const conflict = waiting.conflicts.find(({ path }) => said.startsWith(`${path} `));
  if (conflict === undefined) return null;
  beginChange(context, waiting);
  const choice = said.slice(conflict.path.length).trim();
  const args = argsOf(conflict, choice);
  const asking = { isFresh: false, paths: [conflict.path] };
  if (args === null)
    return askAbout(context, waiting, { ...asking, note: `No choice: ${choice}.` });
  const refusal = refusalOf(await runClawWithProgress(context, args));
  if (refusal !== null) return askAbout(context, waiting, { ...asking, note: refusal });
  const others = waiting.conflicts.filter(
    ({ path, decision }) => decision === null && path !== conflict.path,
  );
  return await askOn(context, waiting, {
    isFresh: false,
    paths: pathsOf(others),
    total: others.length,
    note: `Decided: \`${conflict.path}\`.`,
  });
}

function argsOf(conflict: WaitingConflict, choice: string): readonly string[] | null {
  const { path, places } = conflict;
  const isByPlace = /^\d+(,\d+)*$/.test(choice) && choice.split(',').length === places.length;
  if (isByPlace) return ['resolve', path, '--choose', choice];
  const text = /^value\s+(.+)$/s.exec(choice)?.[1] ?? '';
  return resolveArgs(conflict, { word: text === '' ? choice : 'value', text, isForAll: false });
}

/** Forgets the operation that waits. */
export async function giveUp(context: CommandContext): Promise<CommandResult> {
  const result = await context.claw(['abort']);
  const refusal = refusalOf(result);
  if (refusal !== null) return answer(refusal);
  return answer(
    result.outcome === 'nothing'
      ? 'Nothing waits for a decision.'
      : 'Given up. Everything is as it was.',
  );
}

type Choosing = ResumeOptions & {
  readonly paths: readonly string[];
  readonly total: number;
  readonly numbers: readonly number[] | null;
  readonly reply: Reply;
};

async function choose(
  context: CommandContext,
  waiting: WaitingOperation,
  choosing: Choosing,
): Promise<CommandResult> {
  const { paths, total, numbers, reply, ...way } = choosing;
  if (reply.word === 'again') return await resumeOperation(context, way);
  if (numbers !== null) return await choosePlace(context, waiting, { ...choosing, numbers });
  if (reply.word === PLACES)
    return askAbout(context, waiting, { ...way, paths, total, numbers: [] });
  const left = [...paths];
  const count = reply.isForAll ? left.length : 1;
  for (const path of left.slice(0, count)) {
    const conflict = waiting.conflicts.find((one) => one.path === path);
    const args = conflict === undefined ? null : resolveArgs(conflict, reply);
    // For all the others it may be a choice that this one does not have.
    if (args === null && conflict !== undefined) {
      const note = reply.word === 'value' ? VALUE_MISSING : '';
      return askAbout(context, waiting, { ...way, paths: left, total, note });
    }
    const result = args === null ? null : await runClawWithProgress(context, args);
    const refusal = result === null ? null : refusalOf(result);
    if (refusal !== null) {
      return askAbout(context, waiting, { ...way, paths: left, total, note: refusal });
    }
    left.shift();
  }
  return await askOn(context, waiting, { ...way, paths: left, total });
}

/** Goes on to the next place of the file; after the last one, the file is resolved. */
async function choosePlace(
  context: CommandContext,
  waiting: WaitingOperation,
  { paths, total, numbers, reply, ...way }: Choosing & { readonly numbers: readonly number[] },
): Promise<CommandResult> {
  const [path = '', ...others] = paths;
  const asking = { ...way, paths, total };
  const conflict = waiting.conflicts.find((one) => one.path === path);
  const number = conflict === undefined ? null : numberAt(conflict, numbers.length, reply);
  if (conflict === undefined || number === null) return askAbout(context, waiting, asking);
  const chosen = [...numbers, number];
  if (chosen.length < conflict.places.length) {
    return askAbout(context, waiting, { ...asking, numbers: chosen });
  }
  const args = ['resolve', path, '--choose', chosen.join(',')];
  const refusal = refusalOf(await runClawWithProgress(context, args));
  if (refusal !== null) return askAbout(context, waiting, { ...asking, note: refusal });
  return await askOn(context, waiting, { ...asking, paths: others });
}

/** Asks about the next conflict; after the last one, what is decided is proved. */
async function askOn(
  context: CommandContext,
  waiting: WaitingOperation,
  { paths, total, ...way }: ResumeOptions & Pick<Choosing, 'paths' | 'total'>,
): Promise<CommandResult> {
  if (paths.length > 0) return askAbout(context, waiting, { ...way, paths, total });
  return await resumeOperation(context, {
    ...way,
    blockedNote: 'That has shown another conflict.',
  });
}

type Committing = ResumeOptions & {
  readonly plan: string | null;
  readonly seen: readonly string[];
};

async function commit(
  context: CommandContext,
  { verb, args }: WaitingOperation,
  { plan, seen, ...way }: Committing,
): Promise<CommandResult> {
  const { allow = [] } = way;
  const ended = await carryOut(context, { verb, args, allow, plan, seen }, ['continue']);
  if (ended.kind === 'restart') return ended;
  if (ended.kind === 'blocked')
    return await resumeOperation(context, { ...way, note: PLANNED_AGAIN });
  if (ended.code === 'PLAN_CHANGED') {
    return await resumeOperation(context, { ...way, note: PLANNED_AGAIN });
  }
  return answer(`${ended.text}\n\n${STILL_WAITING}`);
}

const VALUE_MISSING = 'Say `value` and then what it should be, as in `value 8080`.';

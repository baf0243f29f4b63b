import { z } from 'zod';
import type { CommandContext, CommandResult } from '../command.ts';
import { choiceLines, type Reply } from '../question.ts';
import { answer, beginChange, carryOut } from './change.ts';
import { choicesFor, resolveArgs } from './conflict-choices.ts';
import { conflictText } from './conflict-text.ts';
import { provedText } from './proved-text.ts';
import { consentNeeded, consentText, isBlocked, refusalOf } from './refusal.ts';
import { relayed } from './relayed.ts';
import { operationName, readWaiting, type Waiting, type WaitingConflict } from './waiting.ts';

/** What a question about an operation that waits keeps until it is answered. */
const Asked = z.object({
  operation: z.string(),
  allow: z.array(z.string()).default([]),
  step: z.discriminatedUnion('kind', [
    /** The first of these paths is asked about. */
    z.object({ kind: z.literal('choose'), paths: z.array(z.string()), total: z.int() }),
    z.object({ kind: z.literal('commit'), plan: z.string().nullable() }),
  ]),
});

/** How an operation that waits is taken up. */
export type TakeUp = {
  /** Whether the model is asked before the owner is. */
  readonly asksModel: boolean;
  /** Paths that the owner named because they run or steer programs. */
  readonly allow?: readonly string[];
  /** Said first. */
  readonly note?: string;
};

/**
 * Goes on with an operation that waits: the model proposes where it is to, what is decided is proved and
 * shown for the owner's yes, and what is open is asked about, one conflict after the other.
 */
export async function takeUp(context: CommandContext, way: TakeUp): Promise<CommandResult> {
  const waiting = await readWaiting(context);
  if (waiting === null) return answer(joined(way.note, 'Nothing waits for a decision.'));
  if ('exitCode' in waiting) return answer(joined(way.note, refusalOf(waiting) ?? ''));
  await beginChange(context, waiting);
  const open = waiting.conflicts.filter(({ decision }) => decision === null);
  if (open.length === 0) return await showProved(context, waiting, way);
  const canAsk = context.settings.model.apiKey !== null && open.every((one) => one.decidable);
  if (!way.asksModel || !canAsk)
    return askAbout(context, waiting, { ...way, paths: pathsOf(open) });
  context.say(joined(way.note, blockedText(waiting)));
  const proposed = await relayed(context, ['resolve', '--agent']);
  const decided = proposed.ok ? await readWaiting(context) : waiting;
  if (decided === null || 'exitCode' in decided) return answer(GONE);
  const next = { ...way, asksModel: false };
  if (proposed.ok) return await showProved(context, decided, { ...next, note: '' });
  const note = `The agent found no way: ${refusalOf(proposed)}`;
  return askAbout(context, waiting, { ...next, note, paths: pathsOf(open) });
}

/** Goes on after the owner's answer. */
export async function settle(
  context: CommandContext,
  data: unknown,
  reply: Reply,
): Promise<CommandResult> {
  const { operation, allow, step } = Asked.parse(data);
  const waiting = await readWaiting(context);
  if (waiting === null) return answer(GONE);
  if ('exitCode' in waiting) return answer(refusalOf(waiting) ?? '');
  if (operationName(waiting) !== operation) {
    return answer(`${GONE} “${operationName(waiting)}” does: say \`/conflicts\`.`);
  }
  await beginChange(context, waiting);
  if (reply.word === 'give up') return await giveUp(context);
  const way = { asksModel: false, allow };
  if (step.kind === 'choose') return await choose(context, waiting, { ...way, ...step, reply });
  if (reply.word === 'yes') return await commit(context, waiting, { ...way, plan: step.plan });
  const paths = pathsOf(waiting.conflicts);
  return askAbout(context, waiting, { ...way, paths, note: 'Then decide yourself.' });
}

/** Forgets the operation that waits. */
export async function giveUp(context: CommandContext): Promise<CommandResult> {
  const result = await context.claw(['abort']);
  const refusal = refusalOf(result);
  if (refusal !== null) return answer(refusal);
  return answer(
    result.outcome === 'nothing' ? 'Nothing waits.' : 'Given up. Everything is as it was.',
  );
}

type Choosing = TakeUp & {
  readonly paths: readonly string[];
  readonly total: number;
  readonly reply: Reply;
};

async function choose(
  context: CommandContext,
  waiting: Waiting,
  { paths, total, reply, ...way }: Choosing,
): Promise<CommandResult> {
  const left = [...paths];
  const count = reply.isForAll ? left.length : 1;
  for (const path of left.slice(0, count)) {
    const conflict = waiting.conflicts.find((one) => one.path === path);
    const args = conflict === undefined ? null : resolveArgs(conflict, reply);
    // For all the others it may be a choice that this one does not have.
    if (args === null && conflict !== undefined) break;
    const result = args === null ? null : await relayed(context, args);
    const refusal = result === null ? null : refusalOf(result);
    if (refusal !== null) {
      return askAbout(context, waiting, { ...way, paths: left, total, note: refusal });
    }
    left.shift();
  }
  if (left.length === 0) return await takeUp(context, way);
  return askAbout(context, waiting, { ...way, paths: left, total });
}

type Committing = TakeUp & { readonly plan: string | null };

async function commit(
  context: CommandContext,
  { verb, args }: Waiting,
  { plan, ...way }: Committing,
): Promise<CommandResult> {
  const { allow = [] } = way;
  const ended = await carryOut(context, { verb, args, allow, plan }, ['continue']);
  if (ended.kind === 'restart') return ended;
  if (ended.kind === 'blocked') return await takeUp(context, { ...way, note: EDITED });
  if (ended.code === 'PLAN_CHANGED') {
    return await takeUp(context, { ...way, note: EDITED });
  }
  return answer(`${ended.text}\n\n${WAITS}`);
}

/** Proves what is decided, and asks whether it is to be; what does not hold is decided again. */
async function showProved(
  context: CommandContext,
  waiting: Waiting,
  way: TakeUp,
): Promise<CommandResult> {
  if (way.note) context.say(way.note);
  const { allow = [] } = way;
  const named = allow.flatMap((path) => ['--allow', path]);
  const result = await relayed(context, ['continue', '--prove', ...named]);
  if (isBlocked(result)) {
    const note = 'That brought another conflict to light.';
    return await takeUp(context, { asksModel: false, allow, note });
  }
  const refusal = refusalOf(result);
  if (refusal !== null) {
    const doesNotHold = FAILED.includes(result.error?.code ?? '');
    const unnamed = consentNeeded(result);
    if (unnamed.length > 0) return answer(consentText(unnamed, '/conflicts'));
    if (!doesNotHold) return answer(`${refusal}\n\n${WAITS}`);
    const note = `What was decided does not hold. ${refusal}`;
    return askAbout(context, waiting, { ...way, paths: pathsOf(waiting.conflicts), note });
  }
  const { plan } = Planned.parse(result.data);
  return {
    kind: 'ask',
    text: provedText(context, waiting, result),
    command: 'conflicts',
    data: { operation: operationName(waiting), allow, step: { kind: 'commit', plan } },
    choices: [
      { word: 'yes', label: 'yes' },
      { word: 'no', label: 'no' },
      { word: 'give up', label: 'give up' },
    ],
    declined: declined(waiting),
  };
}

const FAILED = ['CHECKS_FAILED', 'TESTS_FAILED', 'NPM_FAILED'];
const Planned = z.looseObject({ plan: z.string().nullable().default(null) });

type Asking = TakeUp & { readonly paths: readonly string[]; readonly total?: number };

/** Asks about the first of these conflicts. */
function askAbout(
  { settings }: CommandContext,
  waiting: Waiting,
  { paths, total = paths.length, allow = [], note }: Asking,
): CommandResult {
  const [path] = paths;
  const conflict = waiting.conflicts.find((one) => one.path === path);
  if (conflict === undefined) return answer(GONE);
  const choices = choicesFor(conflict, settings.model.apiKey !== null);
  const count = total > 1 ? `${total - paths.length + 1} of ${total}: ` : '';
  const hint =
    paths.length > 1 && conflict.decidable
      ? 'Say a number; `all 1` takes a side for all that are left.'
      : 'Say a number.';
  return {
    kind: 'ask',
    text: joined(note, `${count}${conflictText(conflict)}`, choiceLines(choices), hint),
    command: 'conflicts',
    data: {
      operation: operationName(waiting),
      allow,
      step: { kind: 'choose', paths, total },
    },
    choices,
    mayBeForAll: paths.length > 1,
    declined: declined(waiting),
  };
}

function blockedText(waiting: Waiting): string {
  const { conflicts } = waiting;
  const lines = conflicts.map(({ path, layers }) => `- \`${path}\`, ${layers.join(' against ')}`);
  const what = conflicts.length === 1 ? 'one conflict' : `${conflicts.length} conflicts`;
  return `“${operationName(waiting)}” meets ${what}:\n${lines.join('\n')}\n\nNothing is changed. The agent looks for a way.`;
}

function declined(waiting: Waiting): string {
  return `“${operationName(waiting)}” waits: \`/conflicts\` goes on with it, \`/conflicts give up\` forgets it.`;
}

const GONE = 'That operation does not wait any more.';
const EDITED = 'Something was edited since you were shown this, so it was planned again.';
const WAITS = '`/conflicts` goes on with it, `/conflicts give up` forgets it.';

function pathsOf(conflicts: readonly WaitingConflict[]): readonly string[] {
  return conflicts.map(({ path }) => path);
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

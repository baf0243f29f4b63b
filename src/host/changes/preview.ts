import { PlanData } from '@patchclaw/claw/contract';
import { z } from 'zod';
import { type ClawResult, dataBy } from '../contracts/claw.ts';
import type { CommandContext, CommandQuestion, CommandResult } from '../contracts/command.ts';
import { answer, type ChangeRequest, carryOut, readTree } from './change.ts';
import { bringsOf, planLines } from './plan.ts';
import { consentText, isBlocked, refusalOf } from './refusal.ts';
import { resumeOperation } from './resume-operation.ts';

/** A change as a command shows it before it asks, or goes on. */
export type PreviewedChange = ChangeRequest & {
  /** The line above what the plan brings. */
  readonly title: (plan: ClawResult) => string;
  /** Plans that need the owner's yes; one that changes nothing at all never does. */
  readonly asks: 'always' | 'never';
  /** The command as the owner types it. */
  readonly typed: string;
  readonly question: string;
  readonly declined: string;
  /** Returns a question that comes before the plan itself, or null. */
  readonly asksFirst?: (plan: ClawResult) => CommandQuestion | null;
};

/**
 * Plans a change, shows what it would do, and asks whether to continue. If the change is blocked, its conflicts are
 * handled.
 */
export async function previewChange(
  context: CommandContext,
  request: PreviewedChange,
  note = '',
): Promise<CommandResult> {
  const { verb, args, allow = [], options = [], asks } = request;
  const named = allow.flatMap((path) => ['--allow', path]);
  const plan = await context.claw(['plan', verb, ...args, ...options, ...named]);
  const first = request.asksFirst?.(plan) ?? null;
  if (first !== null) return first;
  const consent = consentFor(plan);
  if (isBlocked(plan)) {
    // Asked for now: nobody resolves conflicts for a change that they do not want.
    if (consent.length > 0) return answer(consentText(consent, request.typed));
    return await carryOutChange(context, { verb, args, options, allow });
  }
  const refusal = refusalOf(plan);
  if (refusal !== null) return answer(refusal);
  const lines = linesOf(context, request, plan, note);
  if (consent.length > 0) return answer(`${lines}\n\n${consentText(consent, request.typed)}`);
  if (asks === 'never' || (await isIdle(context, verb, plan))) {
    if (plan.changes.length > 0) context.say(lines);
    return await carryOutChange(context, { verb, args, options, allow });
  }
  return questionOf(context, request, plan, note);
}

function questionOf(
  context: CommandContext,
  request: PreviewedChange,
  plan: ClawResult,
  note = '',
): CommandQuestion {
  const { verb, args, options = [], allow = [], question, declined } = request;
  return {
    kind: 'ask',
    text: `${linesOf(context, request, plan, note)}\n\n${question}`,
    data: { verb, args, options, allow, plan: planIn(plan), seen: plan.warnings },
    declined,
  };
}

function linesOf(
  { isSet }: CommandContext,
  { title }: PreviewedChange,
  plan: ClawResult,
  note: string,
): string {
  return [note, `${title(plan)}\n${planLines(plan, isSet)}`, ...notesOf(plan)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/**
 * Returns the question that `previewChange` would ask, by planning alone. Null if only running the command can tell,
 * because it is blocked, refused, or has nothing to ask.
 */
export async function proposeChange(
  context: CommandContext,
  request: PreviewedChange,
): Promise<CommandQuestion | null> {
  const { verb, args, options = [], asks } = request;
  const plan = await context.claw(['plan', verb, ...args, ...options]);
  const first = request.asksFirst?.(plan) ?? null;
  if (first !== null) return first;
  if (isBlocked(plan) || refusalOf(plan) !== null || asks === 'never') return null;
  const isSilent = consentFor(plan).length > 0 || (await isIdle(context, verb, plan));
  return isSilent ? null : questionOf(context, request, plan);
}

/**
 * Tells whether a plan leaves files and skills as they are. An undo may take back things that no file shows.
 */
async function isIdle(context: CommandContext, verb: string, plan: ClawResult): Promise<boolean> {
  if (verb === 'undo' || plan.changes.length > 0) return false;
  const { applied } = await readTree(context);
  const now = applied.map(({ name, version }) => `${name}@${version}`);
  const then = bringsOf(plan).skills.map(({ name, version }) => `${name}@${version}`);
  return now.toSorted().join() === then.toSorted().join();
}

/** Data that the question of a preview keeps. */
export const PreviewedRequest = z.object({
  verb: z.string(),
  args: z.array(z.string()),
  options: z.array(z.string()).default([]),
  allow: z.array(z.string()).default([]),
  plan: z.string().nullable().default(null),
  seen: z.array(z.string()).default([]),
});

/**
 * Carries a change out. If it is blocked, its conflicts are handled. If the plan is not the one that the owner saw,
 * `again` shows it once more.
 */
export async function carryOutChange(
  context: CommandContext,
  request: ChangeRequest,
  again: ((note: string) => Promise<CommandResult>) | null = null,
): Promise<CommandResult> {
  const ended = await carryOut(context, request);
  if (ended.kind === 'restart') return ended;
  if (ended.kind === 'blocked') return await resumeOperation(context, { isFresh: true });
  if (ended.code === 'PLAN_CHANGED' && again !== null) {
    return await again('Something was edited since you were shown this, so it was planned again.');
  }
  return answer(ended.text);
}

/** Returns paths that the owner has to name before such a plan is carried out. */
function consentFor(plan: ClawResult): readonly string[] {
  const data = dataBy(PlanData, plan);
  return data !== null && 'consent' in data ? data.consent : [];
}

function planIn(plan: ClawResult): string | null {
  const data = dataBy(PlanData, plan);
  return data !== null && 'plan' in data ? data.plan : null;
}

function notesOf({ warnings }: ClawResult): readonly string[] {
  return warnings.map((warning) => `Note: ${warning}`);
}

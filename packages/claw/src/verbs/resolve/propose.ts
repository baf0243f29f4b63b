import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../../compose/resolve-conflict.ts';
import type { Conflict } from '../../conflict.ts';
import { type DataOf, resultOf, type VerbResult } from '../../contract/result.ts';
import { shownDecision } from '../../decisions/choice.ts';
import { decide, isDecided } from '../../decisions/decide.ts';
import { type ProposedChoice, promptFor, readProposal, refused } from '../../decisions/proposal.ts';
import { ClawError } from '../../errors.ts';
import { isSameSubject, subjectOf } from '../../installed/resolution.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext, ModelPrompt, ModelReply } from '../../operation/context.ts';
import type { ProofOutcome } from '../../operation/kept-proof.ts';
import { preparePackages } from '../../operation/npm/npm.ts';
import type { Operation } from '../../operation/planned-operation.ts';
import { proveTree } from '../../operation/prove-plan.ts';
import type { SkillPackage } from '../../package/package.ts';
import { type Pending, tidyUp } from '../../pending/pending.ts';
import { saveDecisions, type Waiting } from '../../pending/waiting.ts';
import { painted, type Screen, shown } from '../../text/screen.ts';
import { planningOf, planPending } from '../continue.ts';
import { diffLines } from '../diff.ts';
import { requireConflict, requireWaiting } from './resolve.ts';

/** A model's proposal for one conflict. */
type Proposal = {
  readonly conflict: Conflict;
  readonly choice: ProposedChoice;
  readonly decision: Decision;
};

/** The question for the model, about the waiting operation as it was when the question was made. */
export type Inquiry = {
  readonly pending: Pending;
  readonly path: string | null;
  readonly questions: readonly { readonly conflict: Conflict; readonly prompt: ModelPrompt }[];
  readonly warnings: readonly string[];
};

/** The model's answers, in the order of the questions. */
export type ConflictReply = { readonly conflict: Conflict; readonly reply: ModelReply };

/**
 * Collects the questions for the model about one open conflict, or about all of them. Writes nothing.
 *
 * @param path null for every open conflict
 * @throws ClawError USAGE; MODEL_REFUSED for what no model can be asked
 */
export async function readInquiry(context: EngineContext, path: string | null): Promise<Inquiry> {
  const waiting = requireWaiting(context.root);
  const open = waiting.conflicts.filter((one) => !isDecided(one, waiting.decisions));
  const wanted = path === null ? open : [requireConflict(waiting, path)];
  const layers = wanted.length === 0 ? [] : await layersOf(context, waiting);
  const questions = wanted.map((conflict) => ({ conflict, prompt: promptFor(conflict, layers) }));
  return { pending: waiting.pending, path, questions, warnings: [] };
}

/**
 * Asks the owner's model. It may take its time: the caller holds no lock.
 *
 * @throws ClawError MODEL_REFUSED, INTERRUPTED
 */
export async function askAll(
  context: EngineContext,
  { questions }: Inquiry,
): Promise<readonly ConflictReply[]> {
  const answered: ConflictReply[] = [];
  for (const { conflict, prompt } of questions) {
    answered.push({ conflict, reply: await ask(context, conflict, prompt) });
  }
  return answered;
}

/**
 * Resolves conflicts with a model's answers. An answer must parse, leave no markers, and pass checks and tests before
 * it is a decision; `continue` carries it out.
 *
 * @param options with `isProposal` nothing is decided yet: the choices are in `data.proposals`
 * @throws ClawError MODEL_REFUSED, CHECKS_FAILED, TESTS_FAILED; STATE_CHANGED where another operation
 *   waits than the one that the model was asked about; nothing is decided then
 */
export async function resolveByModel(
  context: EngineContext,
  { pending, path }: Inquiry,
  answered: readonly ConflictReply[],
  { isProposal }: { readonly isProposal: boolean },
): Promise<VerbResult<'resolve'>> {
  const { root } = context;
  if (answered.length === 0) return resultOf('resolve', 'nothing', { data: { path, open: [] } });
  const waiting = requireWaiting(root);
  refuseOther(waiting, pending, answered);
  const proposals = answered.map(({ conflict, reply }) => readAnswer(context, conflict, reply));
  const decisions = [
    ...waiting.decisions.filter(
      ({ subject }) => !proposals.some((one) => isSameSubject(one.decision.subject, subject)),
    ),
    ...proposals.map(({ decision }) => decision),
  ];
  const warnings = await proveDecided(context, waiting, decisions);
  if (!isProposal) saveDecisions(root, decisions);
  const left = waiting.conflicts.filter((one) => !isDecided(one, decisions));
  const data = {
    path: answered.map(({ conflict }) => conflict.path).join(', '),
    open: left.map((one) => one.path),
    proposals: proposals.map(shownProposal),
  };
  return resultOf('resolve', 'done', { data, warnings });
}

async function layersOf(
  context: EngineContext,
  { pending, decisions }: Waiting,
): Promise<readonly SkillPackage[]> {
  if (pending.verb === 'undo') return [];
  const operation = await planPending(planningOf(context, pending, decisions), pending);
  return operation.plan.layers;
}

/**
 * Refuses answers if the operation changed while the model worked: they are about the conflicts that it saw.
 */
function refuseOther(waiting: Waiting, asked: Pending, answered: readonly ConflictReply[]): void {
  const isSame =
    isDeepStrictEqual({ ...waiting.pending, conflicts: [] }, { ...asked, conflicts: [] }) &&
    answered.every(({ conflict }) =>
      waiting.conflicts.some((one) => isSameSubject(subjectOf(one), subjectOf(conflict))),
    );
  if (isSame) return;
  throw new ClawError(
    'STATE_CHANGED',
    'A different operation waits now than when the model was asked. Nothing was decided.',
  );
}

async function ask(
  context: EngineContext,
  conflict: Conflict,
  prompt: ModelPrompt,
): Promise<ModelReply> {
  if (context.askModel === undefined) {
    throw new ClawError('MODEL_REFUSED', 'There is no model to ask here.');
  }
  context.onProgress({ kind: 'step', text: `Asking the model about ${conflict.path}` });
  const reply = await context.askModel(prompt).catch((error: unknown) => {
    throwIfInterrupted(context.signal);
    throw error;
  });
  context.onProgress({ kind: 'done', text: `${reply.model} answered` });
  // Fails at once on an unusable answer, without waiting for the others.
  readAnswer(context, conflict, reply);
  return reply;
}

function readAnswer(context: EngineContext, conflict: Conflict, reply: ModelReply): Proposal {
  const choice = readProposal(conflict, reply);
  try {
    return { conflict, choice, decision: decide(context, conflict, choice) };
  } catch (error) {
    if (error instanceof ClawError) throw refused(conflict, reply.model, error.message);
    throw error;
  }
}

/** Proves the tree that the decisions make, as far as nothing else is open. */
async function proveDecided(
  context: EngineContext,
  { pending }: Waiting,
  decisions: readonly Decision[],
): Promise<readonly string[]> {
  if (pending.verb === 'undo') return []; // An undo needs no proof.
  const planning = planningOf(context, pending, decisions);
  const operation = await planPending(planning, pending);
  const open = operation.plan.conflicts.map(({ path }) => path);
  if (open.length > 0) {
    return [`Checks and tests run once this is decided as well: ${open.join(', ')}.`];
  }
  return (await provedBy(planning, operation)).warnings;
}

async function provedBy(context: EngineContext, operation: Operation): Promise<ProofOutcome> {
  const packages = await preparePackages(context, operation);
  try {
    return await proveTree(context, operation, packages);
  } catch (error) {
    const isFailure =
      error instanceof ClawError && ['CHECKS_FAILED', 'TESTS_FAILED'].includes(error.code);
    if (!isFailure) throw error;
    const message = `What the model proposes does not hold, so nothing was decided. ${error.message}`;
    throw new ClawError(error.code, message, { data: error.data, cause: error });
  } finally {
    tidyUp(packages.remove);
  }
}

function shownProposal({ conflict, choice, decision }: Proposal) {
  return { path: conflict.path, choice, ...shownDecision(conflict, decision) };
}

/** Returns lines that show a model's proposals, for the owner to read before they go on. */
export function proposalLines(
  proposals: NonNullable<DataOf<'resolve'>['proposals']>,
  screen: Screen,
): readonly string[] {
  return proposals.flatMap(({ path, origin, value, patch }) => [
    painted(`${origin} proposes for ${path}:`, 'cyan', screen),
    ...(patch === null
      ? [`  ${shown(JSON.stringify(value), screen)}`]
      : diffLines({ files: [{ patch }] }, screen)),
  ]);
}

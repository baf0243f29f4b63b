import { answeredFile } from '../compose/answer.ts';
import type { Decision } from '../compose/settle.ts';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import { unifiedPatch } from '../merge/unified.ts';
import type { SkillPackage } from '../skill/package.ts';
import { isSameSubject } from '../state/resolution.ts';
import { type EngineContext, resultOf, type VerbResult } from './context.ts';
import { planningOf, planPending } from './continue.ts';
import { type Choice, decide, isDecided } from './decide.ts';
import { preparePackages } from './npm.ts';
import type { Operation } from './operation.ts';
import { saveDecisions, type Waiting } from './pending.ts';
import { promptFor } from './proposal.ts';
import { readProposal, refused } from './proposal-reply.ts';
import { proveTree } from './proving.ts';
import { requireConflict, requireWaiting } from './resolve.ts';
import { tidyUp } from './tidy-up.ts';

/** What a model proposes for one conflict. */
type Proposal = {
  readonly conflict: Conflict;
  readonly choice: Choice;
  readonly decision: Decision;
};

/**
 * Lets the owner's model settle one open conflict, or all of them. What it proposes must parse, leave no
 * markers, and pass checks and tests before it is a decision; `continue` carries it out.
 *
 * @param path null for every open conflict
 * @param options with `isProposal` nothing is decided yet: the choices are in `data.proposals`
 * @throws ClawError MODEL_REFUSED, CHECKS_FAILED, TESTS_FAILED, USAGE; nothing is decided then
 */
export async function resolveByModel(
  context: EngineContext,
  path: string | null,
  { isProposal }: { readonly isProposal: boolean },
): Promise<VerbResult> {
  const { root } = context;
  const waiting = requireWaiting(root);
  const open = waiting.conflicts.filter((one) => !isDecided(one, waiting.decisions));
  const wanted = path === null ? open : [requireConflict(waiting, path)];
  if (wanted.length === 0) return resultOf('resolve', 'nothing', { data: { path, open: [] } });
  const layers = await layersOf(context, waiting);
  const proposals: Proposal[] = [];
  for (const conflict of wanted) proposals.push(await propose(context, conflict, layers));
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
    path: wanted.map((one) => one.path).join(', '),
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

async function propose(
  context: EngineContext,
  conflict: Conflict,
  layers: readonly SkillPackage[],
): Promise<Proposal> {
  if (context.askModel === undefined) {
    throw new ClawError('MODEL_REFUSED', 'There is no model to ask: claw setup sets one up.');
  }
  context.onProgress({ kind: 'step', text: `Asking the model about ${conflict.path}` });
  const reply = await context.askModel(promptFor(conflict, layers)).catch((error: unknown) => {
    throwIfInterrupted(context.signal);
    throw error;
  });
  const choice = readProposal(conflict, reply);
  context.onProgress({ kind: 'done', text: `${reply.model} answered` });
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
  if (pending.verb === 'undo') return []; // It needs no proof, whoever resolves it.
  const planning = planningOf(context, pending, decisions);
  const operation = await planPending(planning, pending);
  const open = operation.plan.conflicts.map(({ path }) => path);
  if (open.length > 0) {
    return [`Checks and tests run once this is decided as well: ${open.join(', ')}.`];
  }
  return await provedBy(planning, operation);
}

async function provedBy(context: EngineContext, operation: Operation): Promise<readonly string[]> {
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

function shownProposal({ conflict, choice, decision }: Proposal): object {
  const { path, sides } = conflict;
  const { answer, origin } = decision;
  if (answer.kind === 'value') return { path, origin, choice, value: answer.value, patch: null };
  const after = answeredFile(conflict, answer);
  const { patch } = unifiedPatch({ path, before: sides.ours, after, movedFrom: null });
  return { path, origin, choice, value: null, patch };
}

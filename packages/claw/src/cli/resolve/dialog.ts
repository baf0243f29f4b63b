import { harmlessLines, type Screen, screenOf } from '../../text/screen.ts';
import { type Detail, headingLines } from '../../verbs/conflicts/print.ts';
import { proposalLines } from '../../verbs/resolve/propose.ts';
import * as engine from '../../verbs.ts';
import {
  ClawError,
  type Conflict,
  type DataOf,
  type EngineContext,
  type VerbResult,
} from '../../verbs.ts';
import type { Invocation } from '../edition.ts';
import type { Ui } from '../ui.ts';
import { askForSide, askForValue, askHunks, type ResolveAnswer } from './questions.ts';

type Waiting = DataOf<'conflicts'>;
type Dialog = {
  readonly context: EngineContext;
  readonly ui: Ui;
  readonly screen: Screen;
  readonly additions: Invocation['additions'];
};

/** Result of a question about one conflict. */
type Outcome = 'decided' | 'left' | 'stop';

/** Errors that are about one answer: it is said what is wrong with it, and asked again. */
const ABOUT_THE_ANSWER: ReadonlySet<string> = new Set([
  'MARKERS_PRESENT',
  'RESOLUTION_INVALID',
  'MODEL_REFUSED',
  'CHECKS_FAILED',
  'TESTS_FAILED',
  'DEPENDENCY_REFUSED',
  'ENV_INVALID',
  'COMPOSE_REFUSED',
  'YAML_INVALID',
  'LIMIT_EXCEEDED',
  'USAGE',
]);

/**
 * Asks the owner on a terminal about one conflict, or about all open ones, and then whether to continue. Nothing is
 * lost if they stop in between.
 *
 * @throws ClawError USAGE where that path is in no conflict
 */
export async function askAboutConflicts(
  context: EngineContext,
  { ui, additions }: Pick<Invocation, 'ui' | 'additions'>,
  path: string | null,
): Promise<VerbResult<'resolve' | 'continue'>> {
  const dialog = { context, ui, additions, screen: screenOf(process.stderr, process.env) };
  const found = await engine.conflicts(context);
  const { operation = null, details = [] } = found.data ?? {};
  if (operation === null) return nothingToResolve(found.warnings);
  const wanted = details.filter((one) => (path === null ? !one.decided : one.path === path));
  if (path !== null && wanted.length === 0) {
    const paths = details.map((one) => one.path).join(', ');
    throw new ClawError('USAGE', `${path} is in no conflict. These are: ${paths}.`, { path });
  }
  for (const [at, detail] of wanted.entries()) {
    const conflict = found.conflicts.find((one) => one.path === detail.path);
    if (conflict === undefined) continue;
    say(wanted.length > 1 ? [`${at + 1} of ${wanted.length}`] : []);
    if ((await askOne(dialog, conflict, detail)) === 'stop') break;
  }
  return await conclude(dialog, operation);
}

/** Returns the result of `resolve` if no command waits, as `continue` and `abort` do. */
export function nothingToResolve(warnings: readonly string[] = []): VerbResult<'resolve'> {
  return {
    ...{ verb: 'resolve', outcome: 'nothing', data: null, error: null },
    ...{ changes: [], conflicts: [], warnings },
  };
}

async function conclude(
  { context, ui }: Dialog,
  { verb, arguments: args }: NonNullable<Waiting['operation']>,
): Promise<VerbResult<'resolve' | 'continue'>> {
  const after = await engine.conflicts(context);
  const open = (after.data?.details ?? []).filter(({ decided }) => !decided);
  const left = open.map((one) => one.path);
  if (left.length === 0) {
    const isYes = await ui.ask(
      `All conflicts are resolved. Run "${[verb, ...args].join(' ')}" now?`,
    );
    if (isYes) return await engine.continueOperation(context);
  }
  return { ...after, verb: 'resolve', data: { path: null, open: left }, conflicts: [] };
}

async function askOne(dialog: Dialog, conflict: Conflict, detail: Detail): Promise<Outcome> {
  say(['', ...headingLines(conflict, detail, dialog.screen)]);
  for (;;) {
    const outcome = await attempt(dialog, conflict, detail);
    if (outcome !== 'again') return outcome;
  }
}

async function attempt(
  dialog: Dialog,
  conflict: Conflict,
  detail: Detail,
): Promise<Outcome | 'again'> {
  const { context, ui } = dialog;
  try {
    const answer = await ask(dialog, conflict, detail);
    if (answer === 'left' || answer === 'stop') return answer;
    if (typeof answer === 'object' && answer.kind === 'moved') {
      await engine.resolveMoved(context, conflict.path, answer.to);
      return 'decided';
    }
    const choice = answer === 'model' ? await askModel(dialog, conflict) : answer;
    if (choice === null) return 'again';
    await engine.resolve(context, conflict.path, choice);
    return 'decided';
  } catch (error) {
    ui.stop(false);
    if (!(error instanceof ClawError) || !ABOUT_THE_ANSWER.has(error.code)) throw error;
    say([error.message]);
    return 'again';
  }
}

async function ask(dialog: Dialog, conflict: Conflict, detail: Detail): Promise<ResolveAnswer> {
  const { context, ui, screen, additions } = dialog;
  const { path, edited } = detail;
  if (edited && (await ui.ask(`Take the text that you finished in .claw/pending/${path}?`))) {
    return { kind: 'edited' };
  }
  const options = { hasModel: (await additions?.hasModel(context.root)) ?? false, screen, detail };
  if (conflict.values !== null) return await askForValue(conflict, options);
  if (conflict.hunks.length === 0) return await askForSide(conflict, options);
  return await askHunks(conflict, options);
}

/** Returns the model's proposal once it is proved and the owner wants it, else null. */
async function askModel(
  { context, ui, screen }: Dialog,
  { path }: Conflict,
): Promise<engine.Choice | null> {
  const proposed = await engine.proposeByModel(context, path);
  ui.stop(true);
  const proposals = proposed.data?.proposals ?? [];
  say([...proposalLines(proposals, screen), ...proposed.warnings]);
  const [first] = proposals;
  return first !== undefined && (await ui.ask('Take that?')) ? first.choice : null;
}

function say(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${harmlessLines(line)}\n`);
}

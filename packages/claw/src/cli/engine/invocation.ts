import type { CodeFacts, EngineContext, PlanSummary, VerbResult } from '../../verbs.ts';
import type { Invocation, RunVerb } from '../edition.ts';

/** Reads facts from a package's code that the owner has to know. */
export type ReadCode = (path: string, text: string) => CodeFacts;

/** Runs a verb that changes the tree, and adds a note if a running program still has the code from before. */
export async function runChanging(
  run: RunVerb,
  verb: string,
  work: (invocation: Invocation) => Promise<VerbResult>,
): Promise<void> {
  await run(verb, async (invocation) => told(invocation, await work(invocation)));
}

/** Adds a note to the result of a change if a running program still has the code from before. */
export async function told(
  { additions, options, root }: Invocation,
  result: VerbResult,
): Promise<VerbResult> {
  // A program that calls claw restarts by itself, or can ask.
  if (additions === null || options.json === true || result.changes.length === 0) return result;
  return await additions.changed(result, root);
}

/** Makes the engine's context for a command. Questions are asked only on a terminal. */
export function createContext(invocation: Invocation): EngineContext {
  const { root, cwd, options, ui, signal, additions } = invocation;
  const isAsked = !options.yes && !options.json && ui.canAsk;
  return {
    root,
    cwd,
    now: () => new Date(),
    environment: process.env,
    onProgress: (event) => ui.progress(event),
    allow: options.allow,
    skipsInstall: options.install === false,
    expect: options.expect,
    proof: options.proof,
    signal,
    ...(additions === null
      ? {}
      : {
          openProofRunner: additions.openProofRunner,
          askModel: (prompt) => additions.askModel(prompt, { root, signal }),
          beforePublish: (verb) =>
            additions.beforePublish(verb, {
              ...{ root, signal },
              onStep: (text) => ui.progress({ kind: 'step', text }),
            }),
        }),
    ask: isAsked ? (question) => ui.ask(question) : undefined,
    confirm: isAsked ? async (summary) => await confirm(ui, summary) : null,
  };
}

/** Returns the reader for a package's code; if the engine is alone, nothing is read from it. */
export async function readCodeOf({ additions }: Invocation): Promise<ReadCode> {
  return (await additions?.readCode()) ?? (() => ({ settings: [], setUp: [], restart: null }));
}

async function confirm(ui: Invocation['ui'], summary: PlanSummary): Promise<boolean> {
  const { verb, planned, losses, packages } = summary;
  if (losses.length > 0) return await ui.ask(`${verb} gives that up. Go on?`);
  if (verb === 'update' && planned.changes.length > 0) {
    const { renderText } = await import('../render.ts');
    const plan = { ...planned, verb: 'plan' } as const;
    const { out, err } = await renderText(plan, undefined, [], ui.asTyped);
    for (const text of `${out}${err}`.trimEnd().split('\n')) ui.progress({ kind: 'note', text });
    return await ui.ask('Nothing is changed yet. Go on with this update?');
  }
  if (packages.length === 0) return true;
  return await ui.ask(`${verb} brings packages: ${packages.join(', ')}. Go on?`);
}

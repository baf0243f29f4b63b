import { apply, createContext, ended, type Invocation, shellWords } from '@patchclaw/claw/cli';
import { readStarterSet } from '../../lib/starter-set.ts';
import { discoverSetupSteps, type SetupStep } from '../../setup/step.ts';
import { restartedText, restartRunning } from '../assistant/restart.ts';
import type { SetupResult } from '../results.ts';

export const STARTER = { name: 'starter', help: 'the skills that most people want' } as const;

/** Names the skills of the starter set: those that are in, and those that are not. */
export function starterState(root: string): {
  readonly all: readonly string[];
  readonly missing: readonly string[];
} {
  const { all, applied } = readStarterSet(root);
  return { all, missing: all.filter((name) => !applied.includes(name)) };
}

/**
 * Applies the missing skills of the starter set, in one operation, without another question.
 *
 * @returns a sentence on what is in
 * @throws ClawError as `claw apply`, with the tree as it was
 */
export async function applyStarterSet(invocation: Invocation): Promise<string> {
  const { all, missing } = starterState(invocation.root);
  if (all.length === 0) return 'This tree has no starter set.';
  if (missing.length > 0) {
    const result = await apply({ ...createContext(invocation), confirm: null }, missing);
    if (result.outcome !== 'done') {
      return `Nothing was changed: \`npx claw apply ${shellWords(missing)}\` says why.`;
    }
  }
  return `In: ${all.join(', ')}. \`npx claw remove\` takes any of them out again.`;
}

/** Applies the set by its own name, and lets a running assistant take it up. */
export async function setUpStarterSet(
  invocation: Invocation,
  restart: boolean,
): Promise<SetupResult> {
  const before = await discoverSetupSteps();
  const summary = await applyStarterSet(invocation);
  const brought = (await discoverNewSteps(before)).map(({ name }) => `\`npx claw setup ${name}\``);
  const next = brought.length === 0 ? '' : `Go on with ${brought.join(' and ')}.`;
  const rest = restart ? restartedText(await restartRunning(invocation)) : '';
  return ended('setup', { summary: [summary, rest, next].filter(Boolean).join(' ') });
}

/** Returns the steps of this tree that were not there before: those of skills that were applied meanwhile. */
export async function discoverNewSteps(
  before: readonly SetupStep[],
): Promise<readonly SetupStep[]> {
  const known = new Set(before.map(({ name }) => name));
  return (await discoverSetupSteps()).filter(({ name }) => !known.has(name));
}

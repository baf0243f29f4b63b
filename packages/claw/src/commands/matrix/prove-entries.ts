import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineContext } from '../../operation/context.ts';
import { tidyUp } from '../../pending/tidy-up.ts';
import { type ComposedEntry, type Entry, isComposed, layersKey, type Verdict } from './entry.ts';
import type { MatrixInput } from './input.ts';
import { proveAll } from './proving.ts';

/** The results of the proofs, by the key of the layers. */
export type Verdicts = {
  readonly byLayers: ReadonlyMap<string, Verdict>;
  readonly warnings: readonly string[];
};

/**
 * Proves what composed and has something to prove it: checks, or tests of the code or of its layers.
 *
 * @throws ClawError INTERRUPTED
 */
export async function proveEntries(
  context: EngineContext,
  input: MatrixInput,
  work: { readonly entries: readonly Entry[]; readonly jobs: number },
): Promise<Verdicts> {
  const { check, related } = input.installation.config;
  const isProvable = ({ layers }: ComposedEntry) =>
    check.length > 0 || related !== null || layers.some(({ manifest }) => manifest.test.length > 0);
  const sets = new Map<string, ComposedEntry>();
  for (const { composed } of work.entries) {
    if (isComposed(composed) && isProvable(composed)) sets.set(layersKey(composed), composed);
  }
  const byLayers = new Map<string, Verdict>();
  if (sets.size === 0) return { byLayers, warnings: [] };
  const trials = [...sets].map(([key, composed]) => ({
    composed,
    done: (verdict: Verdict) => {
      byLayers.set(key, verdict);
      const text = `${byLayers.size}/${sets.size} ${key}: ${verdictText(verdict)}`;
      context.onProgress({ kind: 'note', text });
    },
  }));
  context.onProgress({ kind: 'step', text: `Proving ${countOf(sets.size)}` });
  const leave = rememberFolders(context.root);
  try {
    const warnings = await proveAll(context, input, { trials, jobs: work.jobs });
    context.onProgress({ kind: 'done', text: `Proved ${countOf(sets.size)}` });
    return { byLayers, warnings };
  } finally {
    tidyUp(leave);
  }
}

function verdictText({ failures: [failure], ms }: Verdict): string {
  const seconds = (ms / 1000).toFixed(1);
  return failure === undefined ? `good, ${seconds} s` : `${failure.name} fails, ${seconds} s`;
}

function countOf(count: number): string {
  return count === 1 ? '1 composition' : `${count} compositions`;
}

/**
 * Remembers which folders are absent now, so that proofs, whose views are in `.claw/tx`, leave none behind.
 */
function rememberFolders(root: string): () => void {
  const fresh = ['.claw/tx', '.claw']
    .map((path) => join(root, path))
    .filter((path) => !existsSync(path));
  return () => {
    for (const path of fresh) if (existsSync(path)) rmdirSync(path);
  };
}

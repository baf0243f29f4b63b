import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { compositionOf } from '../../lib/composition.ts';

/** The code that this process was started on, which the tree may be ahead of. */
export type RunningCode = {
  /** Tells whether a command has published other code since the start. */
  isOutdated(): boolean;
  /** Names the layers that run: `release and telegram 2.0.0`. */
  describe(): string;
};

const State = z.looseObject({
  layers: z.array(z.looseObject({ name: z.string(), version: z.string() })),
});

/**
 * Notes the code that this process runs; called at the start.
 *
 * @param loaded the composition in the tree before this process began to load; null for the present one
 */
export function noteRunningCode(projectDir: string, loaded: string | null): RunningCode {
  const present = compositionOf(projectDir);
  const atStart = loaded ?? present;
  const layers = atStart === present ? presentLayers(projectDir) : 'other code';
  return {
    isOutdated: () => compositionOf(projectDir) !== atStart,
    describe: () => layers,
  };
}

/** Names the release and the layers on it. */
export function describeLayers(
  layers: readonly { readonly name: string; readonly version: string }[],
): string {
  const names = layers.map(({ name, version }) => `${name} ${version}`).join(', ');
  return `release and ${names || 'no skills'}`;
}

function presentLayers(projectDir: string): string {
  const path = join(projectDir, '.claw/state.yaml');
  if (!existsSync(path)) return describeLayers([]);
  try {
    return describeLayers(State.parse(parse(readFileSync(path, 'utf8'))).layers);
  } catch {
    return 'other code'; // Damaged by hand; `claw doctor` says so.
  }
}

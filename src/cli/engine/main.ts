import { runCommandLine } from '../command-line.ts';
import type { Edition } from '../edition.ts';
import { mergeVerbs } from '../merge/merge-verbs.ts';
import { runRaw } from '../merge/raw.ts';
import { engineVerbs } from './engine-verbs.ts';

const EDITION: Omit<Edition, 'version'> = {
  description: 'Skills that change the code, safely.',
  verbs: { ...engineVerbs, ...mergeVerbs },
  discover: null,
  additions: null,
};

/** Runs one verb of the engine's own `claw`. @returns the exit code */
export async function main(args: readonly string[], version: string): Promise<number> {
  return (await runRaw(args)) ?? (await runCommandLine(args, { ...EDITION, version }));
}

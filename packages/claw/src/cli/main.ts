import { runRaw } from '@patchclaw/merge/git';
import { runCommandLine } from './command-line.ts';
import type { Beside } from './edition.ts';
import { engineVerbs } from './engine/engine-verbs.ts';
import { mergeVerbs } from './merge/merge-verbs.ts';

/**
 * Runs one verb of `claw`.
 *
 * @param options.beside loads the program that this engine belongs to; null where the engine is alone. If that fails,
 *   the engine's own verbs work as ever, so that what broke it can be taken out again
 * @returns the exit code
 */
export async function main(
  args: readonly string[],
  options: { readonly version: string; readonly beside: (() => Promise<Beside>) | null },
): Promise<number> {
  const raw = await runRaw(args);
  if (raw !== null) return raw;
  const beside = options.beside === null ? null : await options.beside().catch(warnOf);
  return await runCommandLine(args, {
    description: beside?.description ?? 'Skills that change the code, safely.',
    version: options.version,
    verbs: { ...engineVerbs, ...mergeVerbs, ...beside?.verbs },
    discover: beside?.discover ?? null,
    additions: beside?.additions ?? null,
  });
}

function warnOf(error: unknown): null {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  process.stderr.write(
    `warning: the assistant’s own verbs cannot be loaded: ${reason}. The others work; \`claw undo\` takes the last change back.\n`,
  );
  return null;
}

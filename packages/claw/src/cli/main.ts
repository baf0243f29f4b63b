import { runRaw } from '@patchclaw/merge/raw';
import { ClawError, doctor } from '../verbs.ts';
import { runCommandLine } from './command-line.ts';
import type { Additions, Beside } from './edition.ts';
import { engineVerbs } from './engine/engine-verbs.ts';
import { mergeVerbs } from './merge/merge-verbs.ts';

/**
 * Runs one verb of `claw`.
 *
 * @param options.beside loads the program that this engine belongs to; null where the engine is alone. A verb of the
 *   engine asks for it only when it needs it. If it fails, the engine's own verbs work as ever, so that what broke it
 *   can be taken out again
 * @returns the exit code
 */
export async function main(
  args: readonly string[],
  options: { readonly version: string; readonly beside: (() => Promise<Beside>) | null },
): Promise<number> {
  const raw = await runRaw(args);
  if (raw !== null) return raw;
  const load = options.beside === null ? null : loaderOf(options.beside);
  const isEngines = Object.hasOwn(engineVerbs, args[0] ?? '') && args[0] !== 'completion';
  const beside = isEngines ? null : ((await load?.()) ?? null);
  return await runCommandLine(args, {
    description: beside?.description ?? 'Skills that change the code, safely.',
    version: options.version,
    verbs: { ...engineVerbs, ...mergeVerbs, ...beside?.verbs },
    discover: beside?.discover ?? null,
    additions: load === null ? null : additionsOf(load),
  });
}

type Load = () => Promise<Beside | null>;

/** Loads once, and warns once where that fails. */
function loaderOf(beside: () => Promise<Beside>): Load {
  let loaded: Promise<Beside | null> | null = null;
  return () => {
    loaded ??= beside().catch((error: unknown) => {
      const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      process.stderr.write(
        `warning: the assistant’s own verbs cannot be loaded: ${reason}. The others work; \`claw undo\` takes the last change back.\n`,
      );
      return null;
    });
    return loaded;
  };
}

/** The additions of a program that is loaded when one of them is needed; without it a verb does what it does alone. */
function additionsOf(load: Load): Additions {
  const additions = async () => (await load())?.additions;
  return {
    status: async (result, root) => (await additions())?.status(result, root) ?? result,
    changed: async (result, root) => (await additions())?.changed(result, root) ?? result,
    doctor: async (context, isOffline) =>
      await ((await additions())?.doctor(context, isOffline) ?? doctor(context)),
    beforePublish: async (verb, place) => {
      // Loading that program takes time, and only an update is worth it.
      if (verb === 'update') await (await additions())?.beforePublish(verb, place);
    },
    undo: async (invocation, since) => (await (await additions())?.undo(invocation, since)) ?? null,
    hasModel: async (root) => (await (await additions())?.hasModel(root)) ?? false,
    askModel: async (prompt, place) => {
      const model = await additions();
      if (model === undefined) throw new Error('The model cannot be asked: it was not loaded.');
      return await model.askModel(prompt, place);
    },
    openProofRunner: async (name, parts) => {
      const open = (await additions())?.openProofRunner;
      if (open === undefined)
        throw new ClawError(
          'USAGE',
          `Proofs cannot run on "${name}": the assistant was not loaded.`,
        );
      return await open(name, parts);
    },
    readCode: async () =>
      (await (await additions())?.readCode()) ??
      (() => ({ settings: [], setUp: [], restart: null })),
  };
}

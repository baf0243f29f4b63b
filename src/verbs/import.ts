import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { readEnvFile } from '../env-file.ts';
import { importFrom } from '../import/import.ts';
import { ImportRefused, PRODUCTS, type Product } from '../import/imported-items.ts';
import { isEmptyPlan, type Plan } from '../import/plan.ts';
import { importedLines, planLines, undoneLines, undoQuestion } from '../import/report.ts';
import { lookAtSystem } from '../import/running-assistant.ts';
import { openTarget } from '../import/target.ts';
import { planUndo, recoverImport, undoImport } from '../import/undo.ts';
import { saverBeforeMigration } from '../store/backup/before-migration.ts';
import { StoreError } from '../store/error.ts';
import { printable } from '../supervisor/console/printable.ts';
import { defineVerb, type VerbCall, type VerbEnd, VerbError } from '../verb.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  lockBySettings,
  lockStopped,
  saveInstallation,
} from './backup/installation.ts';

type Place = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly now: () => number;
  readonly home: string | null;
  readonly timeZone: string;
  readonly assistantName: string;
  readonly backup: BackupSettings;
};

/** Moves in from another assistant. */
export const verb = defineVerb({
  name: 'import',
  help: 'move in from NanoClaw, OpenClaw, Hermes, nanobot or clawft: chats, history, memory, tasks',
  usage: { argument: '[folder]', help: 'the folder of the other assistant; it is only read' },
  options: [
    { flags: '--from <product>', help: `${PRODUCTS.join(', ')}; detected by default` },
    {
      flags: '--plan',
      help: 'show what would be imported, what would not and why; change nothing',
    },
    {
      flags: '--take-over',
      help: 'import its logins too, and start its tasks; only if you have stopped the other assistant for good',
    },
    { flags: '--undo', help: 'take the newest import back' },
  ],
  settings: z.object({
    ASSISTANT_NAME: z.string().min(1).default('Andy'),
    TZ: z.string().min(1).optional(),
    ...BACKUP_SETTINGS.shape,
  }),
  create:
    ({ projectDir, dataDir, now, settings }) =>
    async (call) => {
      const { ASSISTANT_NAME: assistantName, HOME: home = null, TZ } = settings;
      const timeZone = TZ ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
      const place = { projectDir, dataDir, now, home, timeZone, assistantName, backup: settings };
      const isUndo = call.options['undo'] === true;
      if (call.words.length !== (isUndo ? 0 : 1)) {
        throw new VerbError(
          'usage',
          'Name the folder of the other assistant: `npx claw import ~/nanoclaw --plan`; or say `npx claw import --undo`.',
        );
      }
      // A plan reads a copy of the database, also while the assistant runs.
      const isPlan = call.options['plan'] === true && !isUndo;
      const lock = isPlan ? null : lockStopped(dataDir, 'An import writes to its database.');
      try {
        return isUndo ? await undo(place, call) : await run(place, call);
      } catch (error) {
        const isKnown = error instanceof ImportRefused || error instanceof StoreError;
        throw isKnown ? new VerbError('failed', error.message) : error;
      } finally {
        lock?.release();
      }
    },
});

async function run(place: Place, call: VerbCall): Promise<VerbEnd> {
  const { projectDir, dataDir, now, ...facts } = place;
  const isPlanOnly = call.options['plan'] === true;
  const shown: string[] = [];
  const { plan, imported, backup } = await importFrom(resolve(projectDir, call.words[0] ?? ''), {
    ...facts,
    roots: { project: projectDir, data: dataDir },
    env: readEnvFile(projectDir),
    now: now(),
    newId: randomUUID,
    progress: call.progress,
    lookAtSystem,
    from: productOf(call.options['from']),
    isTakeOver: call.options['takeOver'] === true,
    makeBackup: async () => {
      const lock = lockBySettings(place.backup);
      return (
        await saveInstallation(place, {
          settings: place.backup,
          reason: 'import',
          lock,
          signal: call.signal,
        })
      ).file;
    },
    isPlanOnly,
    beforeMigration: saver(place, call),
    decide: async (found) => {
      for (const line of planLines(found)) call.progress(printable(line));
      return await decide(found, call);
    },
  });
  const lines = imported === null ? planLines(plan) : importedLines(plan, imported, backup);
  const { product, version, lines: items, warnings } = plan;
  return {
    data: { product, version, items, warnings, imported, backup },
    lines: [...shown, ...lines].map(printable),
  };
}

/** Saves the installation before its database gets tables of a newer version. */
function saver({ projectDir }: Place, call: VerbCall): () => void {
  return saverBeforeMigration(projectDir, (reason) =>
    call.progress(`There is no backup from before the migration of the database: ${reason}`),
  );
}

async function decide(
  plan: Plan,
  call: VerbCall,
): Promise<{ readonly isWanted: boolean; readonly withKeys: boolean }> {
  if (isEmptyPlan(plan)) return { isWanted: true, withKeys: false };
  if (!(await call.confirm('Import this?'))) {
    throw new VerbError('declined', 'You said no; nothing was changed.');
  }
  const keys = plan.settings.filter(({ isSecret }) => isSecret).map(({ name }) => name);
  if (keys.length === 0) return { isWanted: true, withKeys: false };
  const answer = await call.consent(`Copy ${keys.join(', ')} into .env?`);
  return { isWanted: true, withKeys: answer === 'yes' };
}

async function undo(place: Place, call: VerbCall): Promise<VerbEnd> {
  const { projectDir, dataDir, now } = place;
  const target = openTarget({ project: projectDir, data: dataDir }, now(), saver(place, call));
  try {
    recoverImport(target);
    const plan = planUndo(target);
    if (plan === null) throw new VerbError('failed', 'There is no import to undo.');
    const question = undoQuestion(plan);
    if (question !== null) {
      const answer = await call.consent(question);
      if (answer === 'nobody-to-ask') {
        throw new VerbError('usage', `${question} Nothing was changed: say it with --yes.`);
      }
      if (answer === 'no') throw new VerbError('declined', 'You said no; nothing was changed.');
    }
    const kept = undoImport(target);
    return {
      data: { undone: plan.run, messages: plan.messages, kept },
      lines: undoneLines(plan, kept).map(printable),
    };
  } finally {
    target.database.close();
  }
}

function productOf(given: unknown): Product | null {
  if (given === undefined) return null;
  const found = PRODUCTS.find((product) => product === given);
  if (found !== undefined) return found;
  throw new VerbError('usage', `--from takes one of ${PRODUCTS.join(', ')}.`);
}

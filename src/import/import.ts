import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { importsFolder, type Roots } from './file-journal.ts';
import {
  type DetectedSource,
  ImportRefused,
  PRODUCTS,
  type Product,
  type Source,
  type SourceContext,
} from './imported-items.ts';
import { isEmptyPlan, type Plan, titleOf } from './plan.ts';
import { planImport } from './planner.ts';
import { findRunning, realFolder, type SystemView } from './running-assistant.ts';
import { hermes } from './sources/hermes.ts';
import { clawft, nanobot } from './sources/nanobot.ts';
import { nanoclawV1 } from './sources/nanoclaw-v1.ts';
import { nanoclawV2 } from './sources/nanoclaw-v2.ts';
import { openclaw } from './sources/openclaw.ts';
import { lookHere, openTarget, openTargetCopy } from './target.ts';
import { recoverImport } from './undo.ts';
import { type Imported, type WriteContext, writeImport } from './write.ts';

/** What an import works with, beside the folder that it reads. */
export type ImportOptions = WriteContext & {
  readonly roots: Roots;
  readonly home: string | null;
  readonly timeZone: string;
  readonly assistantName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: number;
  readonly lookAtSystem: () => SystemView;
  /** The product that the folder is of; null to find out. */
  readonly from: Product | null;
  readonly isTakeOver: boolean;
  /** Makes a backup before anything is written; null where there is none to be made. */
  readonly makeBackup: (() => Promise<string | null>) | null;
  /** Changes nothing: reads a copy of the database, also while the assistant runs, and asks nobody. */
  readonly isPlanOnly?: boolean;
  /** Called before the database gets tables of a newer version. */
  readonly beforeMigration?: () => void;
  /**
   * Shows the plan, and decides: whether it is carried out, and whether keys come. Not asked where nothing would be done.
   */
  readonly decide: (
    plan: Plan,
  ) => Promise<{ readonly isWanted: boolean; readonly withKeys: boolean }>;
};

export type ImportEnd = {
  readonly plan: Plan;
  /** Null where the plan was only shown. */
  readonly imported: Imported | null;
  readonly backup: string | null;
};

const NOTHING: Imported = { id: null, messages: 0, groups: 0, tasks: 0, files: 0, settings: 0 };

/**
 * Imports from a folder: recognises the product, plans, asks, and carries the plan out.
 *
 * @throws ImportRefused
 */
export async function importFrom(folder: string, options: ImportOptions): Promise<ImportEnd> {
  const { roots, now, isTakeOver, isPlanOnly = false } = options;
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new ImportRefused(`${folder} is not a folder. Name the folder of the other assistant.`);
  }
  const root = realFolder(folder);
  if (root === realFolder(roots.project)) {
    throw new ImportRefused(
      'This is the folder of this assistant itself. Name that of the other one.',
    );
  }
  const workDir = mkdtempSync(isPlanOnly ? join(tmpdir(), 'patchclaw-plan-') : readFolder(roots));
  try {
    const context = {
      root,
      // Without links, as the root: whatever is read lies behind none.
      home: options.home !== null && existsSync(options.home) ? realFolder(options.home) : null,
      workDir,
      timeZone: options.timeZone,
      now,
      from: options.from,
    };
    const source = detect(context, options.from);
    refuseRunning(source, root, options.lookAtSystem());
    const state = readable(source, root, () => source.read());
    const target = isPlanOnly
      ? await openTargetCopy(roots, now, workDir)
      : openTarget(roots, now, options.beforeMigration);
    try {
      if (!isPlanOnly) recoverImport(target, [workDir]);
      const here = lookHere(target, options);
      const plan = readable(source, root, () => planImport(state, root, here, { isTakeOver }));
      if (isPlanOnly) return { plan, imported: null, backup: null };
      const decided = await options.decide(plan);
      if (!decided.isWanted) return { plan, imported: null, backup: null };
      if (isEmptyPlan(plan)) return { plan, imported: NOTHING, backup: null };
      const settings = plan.settings.filter(({ isSecret }) => decided.withKeys || !isSecret);
      const backup = (await options.makeBackup?.()) ?? null;
      const from = { plan: { ...plan, settings }, source: state, place: root };
      return { plan, imported: writeImport(target, from, options), backup };
    } finally {
      target.database.close();
      state.close();
    }
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

function readFolder(roots: Roots): string {
  mkdirSync(importsFolder(roots.data), { recursive: true, mode: 0o700 });
  return join(importsFolder(roots.data), 'read-');
}

/** Every store that can be read, in the order in which a folder is looked at. */
const SOURCES: readonly Source[] = [nanoclawV1, nanoclawV2, openclaw, hermes, nanobot, clawft];

function detect(context: SourceContext, from: Product | null): DetectedSource {
  const wanted = SOURCES.filter(({ product }) => from === null || product === from);
  for (const source of wanted) {
    const found = source.detect(context);
    if (found !== null) return found;
  }
  const products = from === null ? PRODUCTS.map(titleOf).join(', ') : titleOf(from);
  throw new ImportRefused(
    `${context.root} has no store of ${products}. Name the folder that holds it, such as ~/nanoclaw, ~/.openclaw, ~/.hermes, ~/.nanobot or ~/.clawft.`,
  );
}

/** A table, column or value that is not as this product stores it up to now is a refusal with its name, and no fault. */
function readable<T>({ product, version }: DetectedSource, root: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Database.SqliteError || error instanceof z.ZodError)) throw error;
    const [first = ''] = error.message.split('\n');
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : first;
    throw new ImportRefused(
      `The store in ${root} is not one of ${titleOf(product)} ${version} as it is known here: ${reason}. Nothing was changed. Update Patchclaw (npx claw update), then import again.`,
      { cause: error },
    );
  }
}

function refuseRunning(source: DetectedSource, root: string, view: SystemView): void {
  const running = findRunning(source, root, view);
  if (running.length === 0) return;
  const lines = running.map(({ what, stop }) => `  ${what}: ${stop}`);
  throw new ImportRefused(
    [
      `${titleOf(source.product)} is still running. Stop it first, then import again:`,
      ...lines,
    ].join('\n'),
  );
}

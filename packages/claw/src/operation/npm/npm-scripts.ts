import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { readTreeFile } from '../../installed/disk.ts';
import type { ScriptedPackage } from '../../proof/npm/install-scripts.ts';
import { harmlessSettings } from '../../proof/npm/project-settings.ts';
import type { EngineContext } from '../context.ts';
import type { Operation } from '../planned-operation.ts';
import { localPackages } from './local-packages.ts';

const CONSENT = 'npm:';

/** Returns the packages whose install scripts the owner has allowed, by `--allow npm:<package>`. */
export function allowedScripts(allow: readonly string[]): readonly string[] {
  return allow.filter((name) => name.startsWith(CONSENT)).map((name) => name.slice(CONSENT.length));
}

/**
 * Tells whether a project is the one that claw itself runs from. Its code has the owner's rights already, so
 * approvals in its `package.json` count. In any other folder, that file is only the word of its author.
 */
export function isOwnProject(root: string): boolean {
  try {
    const own = join(realpathSync(root), 'packages/claw');
    return realpathSync(import.meta.dirname).startsWith(`${own}${sep}`);
  } catch {
    return false; // One of the two is gone.
  }
}

/** Returns the settings of a project's `.npmrc` that npm may get, and a message to the owner about the others. */
export function npmSettings(root: string): {
  readonly file: TreeFile | null;
  readonly warnings: readonly string[];
} {
  const npmrc = readTreeFile(root, '.npmrc');
  if (npmrc === null) return { file: null, warnings: [] };
  const { text, leftOut } = harmlessSettings(npmrc.bytes.toString('utf8'));
  const warning =
    `npm was not given these settings of the project's .npmrc: ${leftOut.join(', ')}. They could run programs ` +
    'or read other files. If you need them, put them into ~/.npmrc.';
  return {
    file: { bytes: Buffer.from(text), isExecutable: false },
    warnings: leftOut.length === 0 ? [] : [warning],
  };
}

/** Tells the owner about an install script that did not run. */
export function unapprovedScript({ name, version }: ScriptedPackage): string {
  return (
    `${name} ${version} has an install script, which did not run. Where it is needed, look at it, ` +
    `then \`npm rebuild ${name}\`; --allow ${CONSENT}${name} lets it run with the command.`
  );
}

/** Packages with install scripts that a planned command would add. */
export type ForeseenScripts = {
  /** `name@version`. */
  readonly packages: readonly string[];
  readonly warnings: readonly string[];
};

export const NO_SCRIPTS: ForeseenScripts = { packages: [], warnings: [] };

/**
 * Asks npm, in a folder outside the project, how it resolves the planned `package.json`, and picks the new packages
 * that have install scripts. If npm cannot tell, the plan continues.
 */
export async function foreseeScripts(
  context: EngineContext,
  { plan }: Operation,
): Promise<ForeseenScripts> {
  const change = plan.changes.find(({ path }) => path === 'package.json');
  if (!change?.after) return NO_SCRIPTS;
  const place = mkdtempSync(join(tmpdir(), 'claw-npm-'));
  try {
    return await resolve(context, change.after, place);
  } catch (error) {
    if (!(error instanceof ClawError) || error.code !== 'NPM_FAILED') throw error;
    const warning = `Which packages have install scripts cannot be told. ${error.message}`;
    return { packages: [], warnings: [warning] };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function resolve(
  { root, environment, allow, signal, onProgress }: EngineContext,
  packageJson: TreeFile,
  place: string,
): Promise<ForeseenScripts> {
  const { resolvePackages } = await import('../../proof/npm/packages.ts');
  const { newPackages, scriptApprovals } = await import('../../proof/npm/install-scripts.ts');
  const present = readTreeFile(root, 'package-lock.json')?.bytes ?? null;
  const read = (path: string) =>
    path === 'package.json' ? packageJson.bytes : (readTreeFile(root, path)?.bytes ?? null);
  for (const path of localPackages(root, read).paths) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    copyFileSync(join(root, path), join(place, path));
  }
  writeFileSync(join(place, 'package.json'), packageJson.bytes);
  if (present) writeFileSync(join(place, 'package-lock.json'), present);
  const settings = npmSettings(root);
  if (settings.file) writeFileSync(join(place, '.npmrc'), settings.file.bytes);
  onProgress({ kind: 'step', text: 'Resolving packages' });
  const lock = await resolvePackages({ view: place, environment, signal });
  onProgress({ kind: 'done', text: 'Resolved packages' });
  const approvals = scriptApprovals(packageJson.bytes);
  const allowed = allowedScripts(allow);
  // Without a lock, what is installed tells what is new.
  const before = present ?? readTreeFile(root, 'node_modules/.package-lock.json')?.bytes ?? null;
  const scripted = newPackages(lock, before).filter(({ hasScript }) => hasScript);
  const isOwn = isOwnProject(root);
  const open = scripted.filter(({ name }) => {
    const word = approvals.get(name);
    return !allowed.includes(name) && word !== false && !(isOwn && word === true);
  });
  return {
    packages: scripted.map(({ name, version }) => `${name}@${version}`),
    warnings: [
      ...settings.warnings,
      ...open.map(
        ({ name, version }) =>
          `${name} ${version} has an install script, which will not run without --allow ${CONSENT}${name}.`,
      ),
    ],
  };
}

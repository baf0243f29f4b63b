import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { readTreeFile } from '../../installed/disk.ts';
import type { EngineContext } from '../../operation/context.ts';
import { dependenciesOf } from '../../operation/npm/npm.ts';
import { allowedScripts, isOwnProject, npmSettings } from '../../operation/npm/npm-scripts.ts';
import { installPackages } from '../../proof/npm/packages.ts';
import { layOutView } from '../../proof/view.ts';

/** Packages that a proof runs with: absolute, or null for those of the project itself. */
export type InstalledPackages = {
  readonly nodeModules: string | null;
  readonly remove: () => void;
};

/** Returns the part of a tree's `package.json` by which trees can share packages. */
export function packageKey(tree: ReadonlyMap<string, TreeFile | null>): string {
  return dependenciesOf(tree.get('package.json') ?? null);
}

/**
 * Installs the packages of a tree beside the project, where the project's own are others. npm starts
 * from the core's lock, else from the present one.
 *
 * @throws ClawError NPM_FAILED with npm's last lines in `data.output`; INTERRUPTED
 */
export async function installForTree(
  { root, allow, environment, signal }: EngineContext,
  core: Tree,
  packageJson: TreeFile | null,
): Promise<InstalledPackages> {
  const own = { nodeModules: null, remove: () => {} };
  if (packageJson === null || isServed(root, packageJson)) return own;
  const lock = core.get('package-lock.json') ?? readTreeFile(root, 'package-lock.json');
  const view = layOutView(root, {
    paths: [],
    changed: new Map([
      ['package.json', packageJson],
      ['.npmrc', npmSettings(root).file],
    ]),
    tests: [],
  });
  try {
    const installed = await installPackages({
      root,
      view: view.path,
      lock: lock?.bytes ?? null,
      allowScripts: allowedScripts(allow),
      isTrusted: isOwnProject(root),
      environment,
      signal,
    });
    return { nodeModules: installed.nodeModules, remove: view.remove };
  } catch (error) {
    view.remove();
    throw error;
  }
}

function isServed(root: string, wanted: TreeFile): boolean {
  const key = dependenciesOf(wanted);
  if (key === dependenciesOf(null)) return true;
  const isSame = key === dependenciesOf(readTreeFile(root, 'package.json'));
  return isSame && existsSync(join(root, 'node_modules'));
}

import { isSameFile } from '@patchclaw/merge';
import { renamesOf } from '../compose/files/renames.ts';
import { ClawError } from '../errors.ts';
import { CUSTOM } from '../installed/claw-folder.ts';
import { readTreeFile } from '../installed/disk.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../installed/installation.ts';
import type { PlanningContext } from '../operation/context.ts';
import { type Edit, listEdits } from '../operation/edits.ts';
import { pinning } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { planLayers } from '../operation/planned-tree/planned-tree.ts';
import { pathFault, showPath } from '../package/checks/paths.ts';
import { type CustomFile, makeCustomisation } from '../package/manifest/customisation.ts';
import { orderLayers } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';

/**
 * Plans recording the owner's edits as a layer of their own, whether made before the first command or since,
 * committed or not. The tree stays as it is.
 *
 * @throws ClawError USAGE without a description, or where there is nothing to record
 */
export async function planCustomize(
  context: PlanningContext,
  description: string,
): Promise<Operation<'customize'>> {
  if (description.trim() === '') {
    throw new ClawError(
      'USAGE',
      'Say what you changed and why: claw customize "a warmer greeting".',
    );
  }
  const installation = await readInstallation(context.root);
  const installed = readInstalledPackages(installation);
  const all = await findEdits(installation, context.now);
  const edits = all.filter(({ path }) => pathFault(path) === null);
  const unsafe = all.filter((edit) => !edits.includes(edit));
  const files = recordedFiles(installation, installed, edits);
  const layer = makeCustomisation(
    {
      name: customName(description, installed),
      version: '1.0.0',
      description: description.trim(),
      coreVersion: installation.coreVersion,
    },
    files,
  );
  const wanted = files.length === 0 ? installed : [...installed, layer];
  const name = layer.manifest.skill;
  const sources = new Map([[name, { source: `${CUSTOM}/${name}`, commit: null }]]);
  return {
    verb: 'customize',
    arguments: [description],
    installation,
    installed,
    plan: planLayers({ installation, installed, wanted, decisions: context.decisions }),
    pin: pinning(installation.state, sources, context.now()),
    warnings: unsafe.map(
      ({ path }) =>
        `${showPath(path)} is not recorded and stays an edit: ${pathFault(path)}. Rename the file, or let git ignore it, and record again.`,
    ),
    isIdle: files.length === 0,
    data: {
      customisation:
        files.length === 0
          ? null
          : { name, files: edits.map(({ path, kind }) => ({ path, kind })) },
    },
  };
}

/** Returns the owner's edits in an installation, or in a codebase without one. */
export async function findEdits(
  { root, config, state, releaseDigests }: Installation,
  now: () => Date,
): Promise<readonly Edit[]> {
  const published = { release: releaseDigests.files, files: state?.files ?? new Map() };
  return await listEdits(root, { config, published, now });
}

/** Returns a name that no layer has, made from the beginning of a description. */
export function customName(description: string, layers: readonly SkillPackage[]): string {
  const slug = description
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  const stem = slug === '' ? 'custom' : `custom-${slug}`;
  const taken = new Set(layers.map(({ manifest }) => manifest.skill));
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    if (!taken.has(name)) return name;
  }
}

// A file that a skill moved is named as before the move: without the skill, the edit finds it there.
// But where the owner has something else at that place now, both go by the names they have.
function recordedFiles(
  { root, publishedFile, pathMaps }: Installation,
  installed: readonly SkillPackage[],
  edits: readonly Edit[],
): readonly CustomFile[] {
  const origins = new Map(
    [...renamesOf(orderLayers(installed), pathMaps)].map(([origin, present]) => [present, origin]),
  );
  const taken = new Set(edits.map(({ path }) => path));
  const nameOf = (path: string): string => {
    const origin = origins.get(path) ?? path;
    return taken.has(origin) && !origins.has(origin) ? path : origin;
  };
  return edits
    .map(({ path }) => ({
      path: nameOf(path),
      before: publishedFile(path),
      after: readTreeFile(root, path),
    }))
    .filter(({ before, after }) => !isSameFile(before, after));
}

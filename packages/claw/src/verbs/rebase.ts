import { isSameFile } from '@patchclaw/merge';
import { CUSTOM } from '../installed/claw-folder.ts';
import { readTreeFile } from '../installed/disk.ts';
import { readInstallation, readInstalledPackages } from '../installed/installation.ts';
import type { PlanningContext } from '../operation/context.ts';
import { pinning } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { planLayers } from '../operation/planned-tree/planned-tree.ts';
import { makeCustomisation } from '../package/manifest/customisation.ts';
import type { SkillPackage } from '../package/package.ts';
import { customName, findEdits } from './customize.ts';

const DESCRIPTION = 'Everything that differed from the core when it was rebased';

/**
 * Plans making one customisation of all layers and edits. The tree stays unchanged; `losses` names what is lost, and
 * the owner is asked.
 */
export async function planRebase(context: PlanningContext): Promise<Operation<'rebase'>> {
  const { root, now } = context;
  const installation = await readInstallation(root);
  const { state, releaseFile, coreVersion } = installation;
  const installed = readInstalledPackages(installation);
  const edits = await findEdits(installation, now);
  const paths = new Set([...(state?.files.keys() ?? []), ...edits.map(({ path }) => path)]);
  const files = [...paths]
    .map((path) => ({ path, before: releaseFile(path), after: readTreeFile(root, path) }))
    .filter(({ before, after }) => !isSameFile(before, after));
  const name = customName('rebased', []);
  const head = { name, version: '1.0.0', description: DESCRIPTION, coreVersion };
  const isFlat =
    edits.length === 0 && installed.length === 1 && installed[0]?.manifest.skill === name;
  const isNeeded = files.length > 0 && !isFlat;
  const wanted = isNeeded ? [makeCustomisation(head, files)] : installed;
  // The one layer is what the disk holds, by the names that files have there: nothing is to be merged.
  const present = isNeeded
    ? { installed: [], published: (path: string) => readTreeFile(root, path) }
    : { installed };
  const losses = isNeeded ? lossesOf(installed, state?.resolutions.size ?? 0) : [];
  return {
    verb: 'rebase',
    arguments: [],
    installation,
    installed,
    plan: planLayers({ installation, ...present, wanted, decisions: context.decisions }),
    pin: pinning(state, new Map([[name, { source: `${CUSTOM}/${name}`, commit: null }]]), now()),
    warnings: losses,
    losses,
    isIdle: !isNeeded,
    data: {
      losses,
      customisation: isNeeded ? { name, files: files.map(({ path }) => path) } : null,
    },
  };
}

/** Lists features of separate layers that one customisation does not have. */
function lossesOf(installed: readonly SkillPackage[], resolutions: number): readonly string[] {
  const skills = installed.filter(({ kind }) => kind === 'skill');
  const customs = installed.filter(({ kind }) => kind === 'customisation');
  const names = skills.map(({ manifest }) => manifest.skill).join(', ');
  const tested = skills.filter(({ manifest }) => manifest.test.length > 0);
  const moves = installed.some(({ manifest }) =>
    manifest.fileOps.some(({ type }) => type !== 'delete'),
  );
  return [
    ...(skills.length > 0
      ? [`${names} can no longer be removed, upgraded or explained one by one.`]
      : []),
    ...(tested.length > 0
      ? [`The tests of ${tested.map(({ manifest }) => manifest.skill).join(', ')} no longer run.`]
      : []),
    ...(customs.length > 1
      ? [`${customs.length} customisations lose their own descriptions.`]
      : []),
    ...(moves ? ['Files that skills moved become deleted ones and new ones.'] : []),
    ...(resolutions === 1 ? ['A recorded resolution is no longer used.'] : []),
    ...(resolutions > 1 ? [`${resolutions} recorded resolutions are no longer used.`] : []),
  ];
}

import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { readTreeFile } from '../../installed/disk.ts';
import type { Installation } from '../../installed/installation.ts';
import type { EngineContext } from '../../operation/context.ts';
import { composeKnown } from '../../operation/target/target.ts';
import { orderLayers } from '../../package/order.ts';
import { structuredKind } from '../../structured/kind.ts';
import { foldIntoPackage, neededLayers } from './folding.ts';
import { type RenewalInput, reportOf } from './renewal.ts';
import { writePackage } from './write.ts';

/**
 * Folds edits into a package that is not applied, as one that was packed from them a moment ago: nothing
 * but its folder is written. An edit counts where the file holds what the skill changes in it.
 */
export function renewUnapplied(
  context: EngineContext,
  { installation, installed, renewable, edited, named, versionFor, warningsFor }: RenewalInput,
): VerbResult<'pack'> {
  const { root, releaseFile: release, pathMaps, resolutions } = installation;
  const { skill, folder } = renewable;
  const { skill: name } = skill.manifest;
  const answers = { decisions: [], resolutions };
  const needed = neededLayers(installation, installed, skill);
  const beside = [...installed, ...needed.filter((layer) => !installed.includes(layer))];
  const all = composeKnown(root, {
    release,
    layers: orderLayers([...beside, skill]),
    answers,
    pathMaps,
  });
  // Where it conflicts with the applied layers, the tree cannot show its files.
  const isAlone = all.conflicts.length > 0;
  const others = isAlone ? needed : beside;
  const composition = isAlone
    ? composeKnown(root, { release, layers: orderLayers([...others, skill]), answers, pathMaps })
    : all;
  const composed = (path: string) => {
    const known = composition.files.get(path);
    return known ? known.file : release(path);
  };
  const edits = (isAlone ? [] : edited)
    .map((path) => ({ path, wanted: readTreeFile(root, path) }))
    .filter(({ path, wanted }) => !isSameFile(wanted, composed(path)));
  const isOpen = ({ path, wanted }: (typeof edits)[number]) =>
    composition.files.get(path)?.layers.includes(name) === true &&
    structuredKind(path, composition.ownStructured) === null &&
    !holdsWork(path, installation, { wanted, composed: composed(path) });
  const open = edits.filter(isOpen);
  const made = foldIntoPackage({
    installation,
    renewable,
    others,
    composition,
    edits: edits.filter((edit) => !open.includes(edit)),
    named,
    decisions: [],
    version: versionFor,
  });
  if (!('package' in made)) return resultOf('pack', 'blocked', { conflicts: made });
  const why = `your tree does not hold what ${name} changes in it`;
  const left = [...open.map(({ path }) => ({ path, what: [], why })), ...made.left];
  const changes = writePackage(context, folder, made.package.files, `pack --update ${name}`);
  const data = { ...reportOf(made, installation), left };
  const warnings = warningsFor(made.package);
  return resultOf('pack', changes.length === 0 ? 'nothing' : 'done', { changes, data, warnings });
}

/**
 * Tells whether an edited file has a skill's change in it, so that the rest of the edit is made on top of
 * that.
 */
function holdsWork(
  path: string,
  { publishedFile }: Installation,
  { wanted, composed }: { readonly wanted: TreeFile | null; readonly composed: TreeFile | null },
): boolean {
  const base = publishedFile(path);
  // A new file has no lines of other layers.
  if (base === null || wanted === null || composed === null) return true;
  const merged = mergeFiles({ base, ours: wanted, theirs: composed }, { path });
  return merged.kind === 'clean' && isSameFile(merged.file, wanted);
}

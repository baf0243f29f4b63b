import { isSameFile, type Tree, type TreeFile } from '@patchclaw/merge';
import { type FileVersion, type History, readHistory } from '../installed/history.ts';
import type { Installation } from '../installed/installation.ts';
import { addedFile, baseFile, modifiedFile } from '../package/accessors.ts';
import { type ChosenBase, chooseBase } from '../package/infer-base.ts';
import { mapPath, type PathMap } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import { readCommit, resolveCommit } from '../repository/git.ts';

/** The assumed ancestor of a package's file; nulls where it is unknown. */
export type InferredBase = {
  readonly skill: string;
  readonly path: string;
  /** `commit <id>`, `the release` or the skill that adds the file. */
  readonly from: string | null;
  /** Lines that the package adds to it and takes out, layout apart. */
  readonly changedLines: number | null;
  /** Older versions that it changes just as little. */
  readonly alsoFits: readonly string[];
};

export type Inference = {
  /** The packages that were given, in their order, with what was found. */
  readonly packages: readonly SkillPackage[];
  readonly found: readonly InferredBase[];
  readonly warnings: readonly string[];
};

/**
 * Finds the ancestors that packages do not contain, in the history of the core up to the release: never on disk, and
 * never in later commits of the owner.
 *
 * @param others the layers that these packages join
 */
export async function inferBases(
  installation: Installation,
  packages: readonly SkillPackage[],
  others: readonly SkillPackage[],
): Promise<Inference> {
  const wanted = packages.map((layer) => ({ layer, gaps: gapsOf(layer, installation) }));
  const gaps = wanted.flatMap((one) => one.gaps);
  if (gaps.length === 0) return { packages, found: [], warnings: [] };
  const { root, state, taken } = installation;
  const commit = state?.core.commit ?? taken?.commit ?? null;
  const history = await readHistory(root, commit, [...new Set(gaps.flatMap(({ names }) => names))]);
  const search = { installation, history, layers: [...others, ...packages] };
  const results: (Inference & { readonly layer: SkillPackage })[] = [];
  for (const { layer, gaps: own } of wanted) {
    const chosen: [Gap, FittingBase | null][] = [];
    for (const gap of own) chosen.push([gap, await fillGap(search, layer, gap)]);
    results.push({
      layer: withBases(layer, chosen),
      ...reportOf(layer, history, chosen),
      packages: [],
    });
  }
  return {
    packages: results.map(({ layer }) => layer),
    found: results.flatMap(({ found }) => found),
    warnings: results.flatMap(({ warnings }) => warnings),
  };
}

/** A path whose ancestor a package does not carry, what the file has been called, what it should be. */
type Gap = {
  readonly path: string;
  readonly names: readonly string[];
  /** Null where the package deletes the file. */
  readonly modified: TreeFile | null;
};
type FittingBase = Omit<ChosenBase, 'changedLines'> & { readonly changedLines: number | null };
type Search = {
  readonly installation: Installation;
  readonly history: History;
  readonly layers: readonly SkillPackage[];
};

function gapsOf(layer: SkillPackage, { pathMaps }: Installation): readonly Gap[] {
  const { modifies, fileOps } = layer.manifest;
  const gapAt = (path: string, modified: TreeFile | null): readonly Gap[] => {
    const names = formerNames(layer, path, pathMaps);
    const isCarried = names.some((name) => baseFile(layer, name) !== null);
    return isCarried ? [] : [{ path, names, modified }];
  };
  return [
    ...modifies.flatMap((path) => gapAt(path, modifiedFile(layer, path))),
    ...fileOps.flatMap((op) => (op.type === 'delete' ? gapAt(op.path, null) : [])),
  ];
}

/** Returns the names of a package's file in the history: before the package moved it, and since. */
export function formerNames(
  { manifest: { fileOps, coreVersion } }: SkillPackage,
  path: string,
  pathMaps: readonly PathMap[],
): readonly string[] {
  const move = fileOps.find((op) => op.type !== 'delete' && op.to === path);
  const name = move && move.type !== 'delete' ? move.from : path;
  return [...new Set([name, mapPath(name, coreVersion, pathMaps)])];
}

async function fillGap(search: Search, layer: SkillPackage, gap: Gap): Promise<FittingBase | null> {
  const { history, installation, layers } = search;
  const released = gap.names.map(installation.releaseFile).find((file) => file !== null) ?? null;
  const versions =
    history.kind === 'whole' ? gap.names.flatMap((name) => history.versions.get(name) ?? []) : [];
  if (gap.modified === null) return await fillDeletion(search, layer, gap, versions);
  // Without history, the ancestor may be any former file of the core.
  if (history.kind === 'missing' && released !== null) return null;
  const own = versions.map(({ commit, file }) => ({ file, from: `commit ${commit}` }));
  const isKnown = own.some(({ file }) => isSameFile(file, released));
  const added = layers
    .filter((other) => other !== layer)
    .flatMap((other) => {
      const file = gap.names.map((name) => addedFile(other, name)).find((one) => one !== null);
      return file ? [{ file, from: other.manifest.skill }] : [];
    });
  const release = released === null || isKnown ? [] : [{ file: released, from: 'the release' }];
  return chooseBase([...added, ...release, ...own], gap.modified);
}

/**
 * Infers the base of a deletion, which has no text to compare: the file of the very core that the package
 * names, or the only version.
 */
async function fillDeletion(
  { installation: { root } }: Search,
  { manifest: { coreVersion } }: SkillPackage,
  { names }: Gap,
  versions: readonly FileVersion[],
): Promise<FittingBase | null> {
  const [only, ...more] = versions;
  if (only === undefined) return null;
  if (more.length === 0) return chosenVersion(only);
  for (const ref of [`refs/tags/v${coreVersion}`, `refs/tags/${coreVersion}`]) {
    const commit = await resolveCommit(root, ref);
    if (commit === null) continue;
    const files: Tree = await readCommit(root, commit, (path) => names.includes(path));
    const known = versions.find(({ file }) =>
      names.some((name) => isSameFile(file, files.get(name) ?? null)),
    );
    if (known) return chosenVersion(known);
  }
  return null;
}

function chosenVersion({ commit, file }: FileVersion): FittingBase {
  return { file, from: `commit ${commit}`, changedLines: null, alsoFits: [] };
}

function withBases(
  layer: SkillPackage,
  chosen: readonly (readonly [Gap, FittingBase | null])[],
): SkillPackage {
  const found = chosen.flatMap(([{ path }, base]) => (base ? [[path, base.file] as const] : []));
  const lost = chosen.flatMap(([{ path }, base]) => (base ? [] : [path]));
  return {
    ...layer,
    inferredBases: new Map([...layer.inferredBases, ...found]),
    withoutBase: new Set([...layer.withoutBase, ...lost]),
  };
}

function reportOf(
  { manifest: { skill } }: SkillPackage,
  history: History,
  chosen: readonly (readonly [Gap, FittingBase | null])[],
): Pick<Inference, 'found' | 'warnings'> {
  const why = history.kind === 'missing' ? history.reason : 'no version of it in the history fits';
  return {
    found: chosen.map(([{ path }, base]) => ({
      skill,
      path,
      from: base?.from ?? null,
      changedLines: base?.changedLines ?? null,
      alsoFits: base?.alsoFits ?? [],
    })),
    warnings: chosen.map(([gap, base]) =>
      base === null
        ? `${skill} carries no base for ${gap.path}, and ${why}: ${consequence(gap)}.`
        : `${skill}: base of ${gap.path} taken from ${chosenText(base)}.`,
    ),
  };
}

function consequence({ modified }: Gap): string {
  return modified === null
    ? 'deleting it is a conflict'
    : 'each line of the core that it lacks is a conflict';
}

function chosenText({ from, changedLines, alsoFits }: FittingBase): string {
  if (changedLines === null) return `${short(from)} (deleted)`;
  const lines = changedLines === 1 ? '1 line' : `${changedLines} lines`;
  const [other] = alsoFits;
  // Where the core has changed these very lines since, either version may be the ancestor.
  const doubt = other === undefined ? '' : `; ${short(other)} fits as well, so look at these lines`;
  return `${short(from)} (${lines} changed${doubt})`;
}

function short(from: string): string {
  return from.replace(/^(commit [0-9a-f]{7})[0-9a-f]+$/, '$1');
}

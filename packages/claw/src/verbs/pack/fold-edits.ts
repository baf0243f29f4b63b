import { join } from 'node:path';
import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import { compose } from '../../compose/compose.ts';
import type { Composition } from '../../compose/composition.ts';
import type { Decision } from '../../compose/resolve-conflict.ts';
import { type Conflict, conflictFile } from '../../conflict.ts';
import type { Installation } from '../../installed/installation.ts';
import { composeKnown } from '../../operation/planned-tree/planned-tree.ts';
import { type OwnValues, readOwnValues, refuseSecrets } from '../../operation/secrets.ts';
import { createProtection } from '../../package/checks/protection.ts';
import { dependencesOf, orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { readPackage } from '../../package/read-package.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import { type Declaration, declarationsOf } from './declarations.ts';
import { type LeftoverEdit, leftInTree } from './leftover-edits.ts';
import type { Renewable, VersionFor } from './renewal-input.ts';
import { renewedFiles, setVersion, type Work } from './renewed-files.ts';

/** Everything that folding edits into a package takes. */
export type FoldRequest = {
  readonly installation: Installation;
  readonly renewable: Renewable;
  /** The layers beside it in the tree. */
  readonly others: readonly SkillPackage[];
  /** The composition of those layers and the package as its folder holds it. */
  readonly composition: Composition;
  readonly edits: readonly { readonly path: string; readonly wanted: TreeFile | null }[];
  /** Edits that the author named beside the skill's own files. */
  readonly named: readonly string[];
  readonly decisions: readonly Decision[];
  readonly version: VersionFor;
};

/** A package with edits folded in, and the outcome for each edit. */
export type FoldedPackage = {
  readonly package: SkillPackage;
  readonly composition: Composition;
  readonly folded: readonly string[];
  readonly left: readonly LeftoverEdit[];
};

/**
 * Renews a package against the present core, with the edits that belong to it folded in. An edit that would come out
 * differently once all layers are composed is left to the owner.
 *
 * @returns conflicts where the package itself does not merge onto the core
 * @throws ClawError SECRET_FOUND, and every refusal of a package
 */
export function foldIntoPackage(request: FoldRequest): FoldedPackage | readonly Conflict[] {
  const { installation, renewable, composition, others } = request;
  const alone = composeAlone(request);
  if (alone.conflicts.length > 0) return alone.conflicts;
  const own = readOwnValues(installation.root);
  const belongs = createBelonging(installation, renewable.skill, composition, request.named);
  const refused = new Map<string, string>();
  for (;;) {
    const draft = draftOf(request, { alone, own, belongs, refused });
    const made = packageOf(request, draft, own);
    const { releaseFile: release, pathMaps, resolutions } = installation;
    const answers = { decisions: request.decisions, resolutions };
    const layers = orderLayers([...others, made]);
    const composed = composeKnown(installation.root, { release, layers, answers, pathMaps });
    const misfits = misfitsOf(request, draft, composed);
    for (const path of misfits) refused.set(path, inLinesOf(composition, path, made));
    if (misfits.length > 0) continue;
    if (composed.conflicts.length > 0) return composed.conflicts;
    return { package: made, composition: composed, ...reportOf(request, draft, composed, own) };
  }
}

/** Returns the layers that a package depends on: as applied, or else from `skills/`. */
export function neededLayers(
  { root, config }: Installation,
  installed: readonly SkillPackage[],
  skill: SkillPackage,
): readonly SkillPackage[] {
  const options = { protectedPaths: config.protected };
  return dependencesOf(
    [skill],
    (name) =>
      installed.find(({ manifest }) => manifest.skill === name) ??
      readPackage(join(root, 'skills', name), options),
  );
}

/** Returns the package alone, on the core and on what it depends on. */
function composeAlone({ installation, renewable, others, decisions }: FoldRequest): Composition {
  const { releaseFile: release, pathMaps, resolutions } = installation;
  const { skill } = renewable;
  const layers = orderLayers([...neededLayers(installation, others, skill), skill]);
  return compose({ release, layers, answers: { decisions, resolutions }, pathMaps });
}

/** Returns the reason that an edit stays out of a package, or null where it belongs in. */
type Belonging = (path: string) => string | null;

/**
 * Tells which edits belong to a skill: of the files that it touches, and of the structured files that it
 * declares something for. Also new files in folders that it alone made, and edits that the author names.
 *
 * @param named paths of the project, files or folders
 */
function createBelonging(
  installation: Installation,
  skill: SkillPackage,
  composition: Composition,
  named: readonly string[],
): Belonging {
  const { skill: name } = skill.manifest;
  const protection = createProtection(installation.config.protected);
  const made = foldersMade(installation, skill, composition);
  return (path) => {
    const glob = protection.protectedBy(path);
    if (glob !== null) return `no skill may change it: ${glob} is protected`;
    if (named.some((one) => path === one || path.startsWith(`${one}/`))) return null;
    const kind = structuredKind(path, composition.ownStructured);
    if (kind !== null) {
      return declaresFor(skill, kind)
        ? null
        : `${name} declares nothing for it; name it to take it along`;
    }
    const composed = composition.files.get(path);
    if (composed?.layers.includes(name)) return null;
    const isNew = (composed ? composed.file : installation.releaseFile(path)) === null;
    if (isNew && made.some((folder) => path.startsWith(folder))) return null;
    return isNew
      ? `it is new, in no folder that ${name} made; name it to take it along`
      : `${name} does not change this file; name it to take it along`;
  };
}

function declaresFor({ manifest }: SkillPackage, kind: string): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  const counts: Readonly<Record<string, number>> = {
    npm: Object.keys(npmDependencies).length,
    env: envAdditions.length,
    compose: Object.keys(composeServices).length,
    container: Object.keys(container.npmDependencies).length + container.aptPackages.length,
  };
  return (counts[kind] ?? 0) > 0;
}

/** Returns the folders, with a slash at their ends, that hold only this skill's files. */
function foldersMade(
  { releaseDigests }: Installation,
  { manifest }: SkillPackage,
  { files }: Composition,
): readonly string[] {
  const others = [
    ...releaseDigests.files.keys(),
    ...[...files]
      .filter(([, { layers }]) => layers.some((layer) => layer !== manifest.skill))
      .map(([path]) => path),
  ];
  const folders = manifest.adds.flatMap((path) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, at) => `${parts.slice(0, at + 1).join('/')}/`);
  });
  return [...new Set(folders)].filter((folder) => !others.some((path) => path.startsWith(folder)));
}

type Draft = {
  readonly work: Work;
  readonly declarations: readonly Declaration[];
  readonly folded: ReadonlyMap<string, { readonly isWhole: boolean }>;
  readonly left: readonly LeftoverEdit[];
};

type FoldParts = {
  readonly alone: Composition;
  readonly own: OwnValues;
  readonly belongs: Belonging;
  readonly refused: ReadonlyMap<string, string>;
};

function draftOf(request: FoldRequest, { alone, own, belongs, refused }: FoldParts): Draft {
  const { installation, renewable, composition } = request;
  const work = new Map(workOf(alone, renewable.skill.manifest.skill));
  const declarations: Declaration[] = [];
  const folded = new Map<string, { isWhole: boolean }>();
  const left: LeftoverEdit[] = [];
  const { envAdditions } = renewable.skill.manifest.structured;
  const settings = new Set(envAdditions.map(({ name }) => name));
  for (const { path, wanted } of request.edits) {
    const composed = fileIn(composition, installation, path);
    const why = refused.get(path) ?? belongs(path);
    if (why !== null) {
      left.push({ path, what: [], why });
      continue;
    }
    const kind = structuredKind(path, composition.ownStructured);
    if (kind !== null) {
      const edit = { kind, before: composed, after: wanted };
      const declared = declarationsOf([edit], own, settings);
      declarations.push(...declared);
      if (declared.length > 0) folded.set(path, { isWhole: false });
      else left.push(...leftInTree(path, composed, wanted, { own, kind }));
      continue;
    }
    const present = fileIn(alone, installation, path);
    const made = foldEdit({ path, composed, wanted, present });
    if (made === null || !made.isWhole) {
      left.push({ path, what: [], why: inLinesOf(composition, path, renewable.skill) });
    }
    if (made === null) continue;
    folded.set(path, made);
    const known = work.get(path);
    work.set(path, { before: known ? known.before : present, after: made.after });
  }
  return { work, declarations, folded, left };
}

/** Returns the skill's work on each file that is not structured, from its first touch to its last. */
function workOf({ files, ownStructured }: Composition, name: string): Work {
  return new Map(
    [...files].flatMap(([path, { touches }]) => {
      const own = touches.filter(({ layer }) => layer === name);
      const [first, last] = [own[0], own.at(-1)];
      return first && last && structuredKind(path, ownStructured) === null
        ? [[path, { before: first.before, after: last.after }] as const]
        : [];
    }),
  );
}

/** One edited file, and the skill's work on it. */
type EditedFile = {
  readonly path: string;
  /** As all layers compose it. */
  readonly composed: TreeFile | null;
  /** As the owner has it. */
  readonly wanted: TreeFile | null;
  /** As the skill alone makes it, on the core and what it depends on. */
  readonly present: TreeFile | null;
};

/** The file as the skill alone is to make it; `isWhole` unless a part of the edit stays out. */
type FoldedEdit = { readonly after: TreeFile | null; readonly isWhole: boolean };

/**
 * Carries an edit over from the composed file to the one that the skill alone makes. The parts of it in lines
 * of another layer cannot be carried over.
 *
 * @returns null where no part of the edit can
 */
function foldEdit({ path, composed, wanted, present }: EditedFile): FoldedEdit | null {
  const merged = mergeFiles({ base: composed, ours: present, theirs: wanted }, { path });
  if (merged.kind === 'clean') return { after: merged.file, isWhole: true };
  if (merged.conflict !== 'content') return null;
  const lines = merged.hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : hunk.ours));
  const after = { bytes: Buffer.from(lines.join(''), 'latin1'), isExecutable: merged.isExecutable };
  return isSameFile(after, present) ? null : { after, isWhole: false };
}

function packageOf(request: FoldRequest, draft: Draft, own: OwnValues): SkillPackage {
  const { installation, renewable, version } = request;
  const { root, config, coreVersion, releaseFile, pathMaps } = installation;
  const { skill } = renewable;
  const files = renewedFiles({ skill, ...draft, coreVersion, releaseFile, pathMaps });
  setVersion(files, version(files));
  refuseSecrets(files, own);
  return packageFromFiles(files, { protectedPaths: config.protected, projectDir: root });
}

/** Returns folded files for which all layers together would make other bytes than the owner has. */
function misfitsOf(
  { installation, edits }: FoldRequest,
  { folded }: Draft,
  composed: Composition,
): readonly string[] {
  const conflicted = new Set(composed.conflicts.map(conflictFile));
  return edits
    .filter(({ path }) => folded.has(path))
    .filter(({ path, wanted }) => {
      if (conflicted.has(path)) return true;
      const isWhole = folded.get(path)?.isWhole === true;
      return isWhole && !isSameFile(fileIn(composed, installation, path), wanted);
    })
    .map(({ path }) => path);
}

function reportOf(
  { installation, edits }: FoldRequest,
  { folded, left }: Draft,
  composed: Composition,
  own: OwnValues,
): Pick<FoldedPackage, 'folded' | 'left'> {
  const partly = edits
    .filter(({ path }) => folded.has(path))
    .flatMap(({ path, wanted }) =>
      leftInTree(path, fileIn(composed, installation, path), wanted, {
        own,
        kind: structuredKind(path, composed.ownStructured),
      }),
    );
  const all = [...left, ...partly].sort((one, other) => (one.path < other.path ? -1 : 1));
  return { folded: [...folded.keys()].sort(), left: all };
}

function fileIn(
  { files }: Composition,
  { releaseFile }: Installation,
  path: string,
): TreeFile | null {
  const composed = files.get(path);
  return composed ? composed.file : releaseFile(path);
}

function inLinesOf({ files }: Composition, path: string, { manifest }: SkillPackage): string {
  const layers = files.get(path)?.layers ?? [];
  const others = layers.filter((layer) => layer !== manifest.skill);
  const whose = others.length === 0 ? 'the core' : others.join(' and ');
  return `it is in lines that come from ${whose}`;
}

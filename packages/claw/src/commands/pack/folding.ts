import { join } from 'node:path';
import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { compose } from '../../compose/compose.ts';
import type { Composition } from '../../compose/composition.ts';
import type { Decision } from '../../compose/resolve-conflict.ts';
import { type Conflict, conflictFile } from '../../conflict.ts';
import type { Installation } from '../../installed/installation.ts';
import { type OwnValues, readOwnValues, refuseSecrets } from '../../operation/secrets/secrets.ts';
import { composeKnown } from '../../operation/target/target.ts';
import { dependencesOf, orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { readPackage } from '../../package/read-package.ts';
import { structuredKind } from '../../structured/kind.ts';
import { type Belonging, createBelonging } from './belonging.ts';
import { type Declaration, declarationsOf } from './declarations.ts';
import { foldEdit } from './fold.ts';
import { type Left, leftInTree } from './left.ts';
import { renewedFiles, setVersion, type Work } from './renew.ts';
import type { Renewable } from './renewable.ts';

/** Everything that folding edits into a package takes. */
export type FoldRequest = {
  readonly installation: Installation;
  readonly renewable: Renewable;
  /** The layers beside it in the tree. */
  readonly others: readonly SkillPackage[];
  /** Of those layers and the package as its folder holds it. */
  readonly composition: Composition;
  readonly edits: readonly { readonly path: string; readonly wanted: TreeFile | null }[];
  /** Edits that the author named beside the skill's own files. */
  readonly named: readonly string[];
  readonly decisions: readonly Decision[];
  readonly version: (files: ReadonlyMap<string, TreeFile>) => string;
};

/** A package with edits folded in, and what became of each edit. */
export type FoldedPackage = {
  readonly package: SkillPackage;
  readonly composition: Composition;
  readonly folded: readonly string[];
  readonly left: readonly Left[];
};

/**
 * Renews a package against the present core, with the edits that belong to it folded in. An edit that would
 * come out otherwise once all layers are composed is left to the owner.
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

/** Returns the layers that a package depends on: as they are applied, else as `skills/` holds them. */
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

type Draft = {
  readonly work: Work;
  readonly declarations: readonly Declaration[];
  readonly folded: ReadonlyMap<string, { readonly isWhole: boolean }>;
  readonly left: readonly Left[];
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
  const left: Left[] = [];
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

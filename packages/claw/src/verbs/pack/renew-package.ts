import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import type { z } from 'zod';
import type { RenewalData } from '../../contract/changing-verbs.ts';
import type { Immutable } from '../../contract/result.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { ClawError } from '../../errors.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { readTreeFile } from '../../installed/disk.ts';
import type { Installation } from '../../installed/installation.ts';
import type { EngineContext, PlanningContext } from '../../operation/context.ts';
import { pinning } from '../../operation/layers.ts';
import { carryOut } from '../../operation/operation.ts';
import type { ExtraChange, Operation } from '../../operation/planned-operation.ts';
import {
  composeKnown,
  planLayers,
  type TargetPlan,
} from '../../operation/planned-tree/planned-tree.ts';
import { orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import { unwrittenIn } from '../../package/templates.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import {
  type FoldedPackage,
  type FoldRequest,
  foldIntoPackage,
  neededLayers,
} from './fold-edits.ts';
import { writePackage } from './package-folder.ts';
import {
  findRenewalInput,
  type Renewable,
  type RenewalInput,
  type RenewOptions,
} from './renewal-input.ts';

/**
 * Renews a package against the present core, with the owner's edits that belong to it folded in. If the skill is
 * applied, the tree is then composed with the new package.
 *
 * @throws ClawError SKILL_NOT_FOUND; USAGE for a path without an edit; SECRET_FOUND; TESTS_FAILED
 */
export async function packUpdate(
  context: PlanningContext,
  name: string,
  options: RenewOptions,
): Promise<VerbResult<'pack'>> {
  const found = await findRenewalInput(context, name, options);
  if (found.renewable.applied === null) return renewUnapplied(context, found);
  return await carryOut(context, await planRenewal(context, found, options));
}

/**
 * Folds edits into a package that is not applied, as one that was packed from them a moment ago: nothing
 * but its folder is written. An edit counts where the file holds what the skill changes in it.
 */
function renewUnapplied(
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

/** Plans `claw pack <name> --update` of an applied skill. */
export async function planPackUpdate(
  context: PlanningContext,
  name: string,
  options: RenewOptions,
): Promise<Operation<'pack'>> {
  const found = await findRenewalInput(context, name, options);
  if (found.renewable.applied !== null) return await planRenewal(context, found, options);
  throw new ClawError(
    'USAGE',
    `${name} is not applied, so that claw pack ${name} --update writes nothing but skills/${name}.`,
  );
}

async function planRenewal(
  context: PlanningContext,
  input: RenewalInput,
  options: RenewOptions,
): Promise<Operation<'pack'>> {
  const { installation, installed, renewable, versionFor } = input;
  const { skill, applied, source, folder } = renewable;
  const { root } = installation;
  const rest = installed.filter((layer) => layer !== applied);
  const request = { installation, installed, decisions: context.decisions };
  const brought = planLayers({ ...request, wanted: [...rest, skill] });
  const after = new Map(brought.changes.map((change) => [change.path, change.after]));
  const wanted = (path: string) =>
    after.has(path) ? (after.get(path) ?? null) : readTreeFile(root, path);
  const others = brought.layers.filter(({ manifest }) => manifest.skill !== skill.manifest.skill);
  const fold = () =>
    foldIntoPackage({
      installation,
      renewable,
      others,
      composition: brought.target,
      edits: editsAgainst(brought, installation, [...input.edited, ...after.keys()], wanted),
      named: input.named,
      decisions: context.decisions ?? [],
      version: versionFor,
    });
  const made = brought.conflicts.length > 0 ? brought.conflicts : fold();
  const operation = {
    verb: 'pack' as const,
    arguments: [skill.manifest.skill],
    retry: [skill.manifest.skill, ...input.named],
    options: { level: options.level, proof: options.isUnproved ? 'none' : null },
    installation,
    installed,
    pin: pinning(
      installation.state,
      new Map([[skill.manifest.skill, { source, commit: null }]]),
      context.now(),
    ),
  };
  if (!('package' in made)) {
    return { ...operation, plan: { ...brought, conflicts: made }, warnings: [], data: {} };
  }
  const plan = planOf(brought, made);
  const files = folderChanges(root, folder, made.package);
  const published = input.edited.map((path) => [path, installation.publishedFile(path)] as const);
  return {
    ...operation,
    plan,
    files,
    warnings: [...warningsOf(renewable), ...input.warningsFor(made.package)],
    isIdle:
      files.length === 0 && plan.changes.length === 0 && made.package.digest === applied?.digest,
    proof: { isSkipped: options.isUnproved === true, compared: new Map(published) },
    data: reportOf(made, installation),
  };
}

/** Returns the files that are not as the layers compose them once the folder's own changes are in. */
function editsAgainst(
  { target }: TargetPlan,
  { releaseFile }: Installation,
  paths: readonly string[],
  wanted: (path: string) => TreeFile | null,
): FoldRequest['edits'] {
  return [...new Set(paths)]
    .sort()
    .map((path) => ({ path, wanted: wanted(path), composed: target.files.get(path) }))
    .filter(
      ({ path, wanted: file, composed }) =>
        !isSameFile(file, composed ? composed.file : releaseFile(path)),
    );
}

/**
 * Returns the plan of the folder's own changes, on the package with the edits in it. Folding writes no file
 * of the tree: where a file is composed with other bytes than the owner's, the difference stays an edit.
 */
function planOf(brought: TargetPlan, made: FoldedPackage): TargetPlan {
  return {
    layers: orderLayers([
      ...brought.layers.filter(({ manifest }) => manifest.skill !== made.package.manifest.skill),
      made.package,
    ]),
    target: made.composition,
    changes: brought.changes,
    conflicts: [],
    resolvedConflicts: brought.resolvedConflicts,
    adopted: () => [],
    pathMaps: brought.pathMaps,
  };
}

function folderChanges(root: string, folder: string, made: SkillPackage): readonly ExtraChange[] {
  const wanted = new Map([...made.files].map(([path, file]) => [`${folder}/${path}`, file]));
  const present = listFolder(`${root}/${folder}`).map((path) => `${folder}/${path}`);
  return [...new Set([...present, ...wanted.keys()])].sort().flatMap((path) => {
    const before = readTreeFile(root, path);
    const after = wanted.get(path) ?? null;
    return isSameFile(before, after) ? [] : [{ path, before, after }];
  });
}

function warningsOf({ cameFrom, skill, folder }: Renewable): readonly string[] {
  if (cameFrom === null) return [];
  return [
    `${skill.manifest.skill} came from ${cameFrom}. Your package of it is ${folder} now, and upgrades come from there.`,
  ];
}

type Renewal = Immutable<z.output<typeof RenewalData>>;

/** Reports a renewal, beside the data of all verbs. */
function reportOf(made: FoldedPackage, { coreVersion }: Installation): Renewal {
  const { skill, version } = made.package.manifest;
  const toWrite = unwrittenIn(made.package.files).map((one) => ({
    ...one,
    path: `skills/${skill}/${one.path}`,
  }));
  return { skill, version, coreVersion, folded: made.folded, left: made.left, toWrite };
}

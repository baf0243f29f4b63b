import { join } from 'node:path';
import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { parseDocument } from 'yaml';
import { compose } from '../../compose/compose.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { ClawError } from '../../errors.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { readOwnStructured } from '../../installed/config.ts';
import { readTreeFile } from '../../installed/disk.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../../installed/installation.ts';
import { isProjectPath } from '../../installed/project-files.ts';
import type { EngineContext } from '../../operation/context.ts';
import { readOwnValues, refuseSecrets } from '../../operation/secrets.ts';
import { createProtection } from '../../package/checks/protection.ts';
import { orderLayers } from '../../package/order.ts';
import { changeDigest, hasChanges } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { skillPage } from '../../package/skill-page.ts';
import { descriptionOf, unwrittenIn } from '../../package/templates.ts';
import { isGitFolder, readCommit, resolveCommit, runGit } from '../../repository/git.ts';
import { rangePatches } from '../../repository/git-patches.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import { findEdits } from '../customize.ts';
import { type ReadCode, setUpOf, undeclaredSettings } from './code-facts.ts';
import { type LeftoverEdit, leftOfStructured } from './leftover-edits.ts';
import { findNamedEdits, isAtOrBelow, packCommand, refusePathAsName } from './named-edits.ts';
import { type Draft, draftPackage } from './package-draft.ts';
import { planPackage, writePackage } from './package-folder.ts';
import { findRenames, type PackedEdit } from './packed-edit.ts';

/** The source of a package: the unrecorded edits, or the changes of a range of commits (`a..b`). */
export type PackOptions = {
  readonly range: string | null;
  readonly description: string | null;
  /** Edits to take: paths, relative to where the author is. All of them where none is named. */
  readonly named?: readonly string[];
  /** Options that only a package that is there already takes, as the author wrote them. */
  readonly renewing?: readonly string[];
  readonly readCode?: ReadCode;
};

/**
 * Makes a package of edits under `skills/<name>/`: manifest, bases, intent notes and a test to fill in. Applied to a
 * clone without the edits, it gives the tree that it was made from; edits that do not fit are reported.
 *
 * @throws ClawError NAME_INVALID, PATH_PROTECTED and the other refusals of a package; USAGE where there
 *   is nothing to pack, or such a package already
 */
export async function pack(
  context: EngineContext,
  name: string,
  options: PackOptions,
): Promise<VerbResult<'pack'>> {
  const made = await makePackage(context, name, options);
  const changes = writePackage(context, made.folder, made.files, made.summary);
  const { data, warnings } = made;
  return resultOf('pack', 'done', { data, changes, warnings });
}

/** Plans `claw pack` of a new package, with the same refusals. */
export async function planNewPackage(
  context: EngineContext,
  name: string,
  named: readonly string[],
) {
  const made = await makePackage(context, name, { range: null, description: null, named });
  const changes = planPackage(context.root, made);
  return { ...resultOf('pack', 'done', { changes }), data: made.data };
}

/** Tells whether `claw pack` would begin a package: neither a folder nor an applied skill has the name. */
export async function isNewPackage({ root }: EngineContext, name: string): Promise<boolean> {
  if (listFolder(join(root, `skills/${name}`)).length > 0) return false;
  const { state } = await readInstallation(root);
  return !state?.layers.some((layer) => layer.name === name);
}

async function makePackage(context: EngineContext, name: string, options: PackOptions) {
  const { root, now } = context;
  const { named = [] } = options;
  const place = `skills/${name}`;
  const installation = await readInstallation(root);
  const installed = readInstalledPackages(installation);
  refuseRenewal({ root, installed }, name, options);
  const range = options.range === null ? null : await rangeEdits(installation, options.range);
  const found = range?.edits ?? (await treeEdits(installation, now));
  refusePathAsName(context, { name, named }, pathsOf(found));
  const { edits, others } = chooseEdits(context, installation, found, options);
  if (edits.length === 0) {
    throw new ClawError(
      'USAGE',
      `There are no edits to pack: change something, or give --range a..b.${recordedNote(installed)}`,
    );
  }
  const description = options.description ?? descriptionOf(name);
  const { config } = installation;
  const protection = createProtection(config.protected);
  const free = edits.filter(({ path }) => protection.protectedBy(path) === null);
  // Of nothing but protected files the package is refused, with the first of them.
  const packed = free.length > 0 ? free : edits;
  const own = readOwnValues(root);
  const draft = draftPackage({ name, description, installation, installed, edits: packed, own });
  const skill = packageFromFiles(draft, { protectedPaths: config.protected, projectDir: root });
  const left = [...notGiven({ installation, installed, edits, own }, skill), ...others];
  refuseEmpty(skill, left);
  const known = { releaseFile: installation.releaseFile, others: installed };
  const page = skillPage(name, description, setUpOf(skill, known, options.readCode));
  draft.set('SKILL.md', { bytes: Buffer.from(page), isExecutable: false });
  refuseSecrets(draft, own);
  if (range !== null) await recordOrigin(root, { draft, skill, range });
  const data = {
    skill: name,
    folder: place,
    adds: skill.manifest.adds,
    modifies: skill.manifest.modifies,
    left,
    toWrite: unwrittenIn(draft).map((one) => ({ ...one, path: `${place}/${one.path}` })),
  };
  const warnings = undeclaredSettings(skill, known, options.readCode);
  return { folder: place, files: draft, summary: `pack ${name}`, data, warnings };
}

/** Says why recorded edits are none to pack, and how they become some; empty where none are recorded. */
function recordedNote(installed: readonly SkillPackage[]): string {
  const names = installed.flatMap(({ kind, manifest }) =>
    kind === 'customisation' ? [manifest.skill] : [],
  );
  if (names.length === 0) return '';
  return ` What is recorded (${names.join(', ')}) is a layer already: \`claw undo\` right after \`claw customize\` makes edits of it again.`;
}

/**
 * Refuses to begin a package that is there, and options that only such a one takes.
 *
 * @throws ClawError USAGE with the command to give instead
 */
function refuseRenewal(
  { root, installed }: { readonly root: string; readonly installed: readonly SkillPackage[] },
  name: string,
  { named = [], renewing = [] }: PackOptions,
): void {
  const place = `skills/${name}`;
  const isThere = listFolder(join(root, place)).length > 0;
  const isApplied = installed.some(({ manifest }) => manifest.skill === name);
  if (isThere || isApplied) {
    const what = isThere ? `${place} is there already` : `${name} is applied already`;
    const command = packCommand({ name, named, flags: ['--update', ...renewing] });
    throw new ClawError('USAGE', `${what}. To put edits into it: ${command}.`, { path: place });
  }
  if (renewing.length === 0) return;
  const without = `${place} is not there yet, and begins with 1.0.0: leave out ${renewing.join(' and ')}.`;
  throw new ClawError('USAGE', without, { path: place });
}

/** A manifest has 64 KiB, and a change of more commits than these is known by what it changes. */
const MAX_COMMITS = 400;

/**
 * Writes the commits of a range into the manifest of the package that was made of them, so that `update`
 * can tell when a release contains them. Not of a range whose ends lie on two branches: such a package
 * takes changes back as well, which no commit of it tells.
 */
async function recordOrigin(
  root: string,
  {
    draft,
    skill,
    range,
  }: {
    readonly draft: Map<string, TreeFile>;
    readonly skill: SkillPackage;
    readonly range: RangeEdits;
  },
): Promise<void> {
  const { first, last } = range;
  const file = draft.get('manifest.yaml');
  const back = await runGit(root, ['rev-list', '--max-count=1', first, `^${last}`]);
  if (file === undefined || back.length > 0) return;
  const { commits, patch } = await rangePatches(root, first, last);
  const count = Object.keys(commits).length;
  if (count === 0 || count > MAX_COMMITS) return;
  const document = parseDocument(file.bytes.toString('utf8'));
  document.set('origin', document.createNode({ of: changeDigest(skill), patch, commits }));
  draft.set('manifest.yaml', { ...file, bytes: Buffer.from(document.toString({ lineWidth: 0 })) });
}

/** The changes of a range of commits, and its two ends. */
type RangeEdits = {
  readonly edits: readonly PackedEdit[];
  readonly first: string;
  readonly last: string;
};

/**
 * Reads what the commits of a range changed, from its first end to its last.
 *
 * @throws ClawError USAGE for a range that git does not know here
 */
async function rangeEdits({ root, config }: Installation, range: string): Promise<RangeEdits> {
  const [from = '', to = ''] = range.split('..');
  const ends = isGitFolder(root)
    ? [await resolveCommit(root, from), await resolveCommit(root, to === '' ? 'HEAD' : to)]
    : [];
  const [first, last] = ends;
  if (!first || !last || from === '') {
    throw new ClawError(
      'USAGE',
      `${range} is not a range of commits here: give it as v1.0.0..HEAD.`,
    );
  }
  const isCore = (path: string) => isProjectPath(path, config) && path !== 'package-lock.json';
  const before = await readCommit(root, first, isCore);
  const after = await readCommit(root, last, isCore);
  const edits = [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((edit) => !isSameFile(edit.before, edit.after));
  return { edits, first, last };
}

type EditChoice = {
  readonly edits: readonly PackedEdit[];
  readonly others: readonly LeftoverEdit[];
};

/**
 * Divides edits into the named ones and others; all are named where none is. A moved file counts with
 * both of its names.
 *
 * @throws ClawError USAGE for a path without an edit
 */
function chooseEdits(
  context: EngineContext,
  installation: Installation,
  found: readonly PackedEdit[],
  { named = [], range }: PackOptions,
): EditChoice {
  if (named.length === 0) return { edits: found, others: [] };
  const paths = findNamedEdits(context, installation, pathsOf(found), named, range);
  const isNamed = (path: string) => paths.some((one) => isAtOrBelow(path, one));
  const moves = [...findRenames(found)].filter((names) => names.some(isNamed)).flat();
  const edits = found.filter(({ path }) => isNamed(path) || moves.includes(path));
  const others = found
    .filter((edit) => !edits.includes(edit))
    .map(({ path }) => ({ path, what: [], why: 'you did not name it' }));
  return { edits, others: range === null ? others : [] };
}

function pathsOf(edits: readonly PackedEdit[]): readonly string[] {
  return edits.map(({ path }) => path);
}

/** @throws ClawError USAGE for a skill that would change nothing */
function refuseEmpty({ manifest }: SkillPackage, left: readonly LeftoverEdit[]): void {
  if (hasChanges(manifest)) return;
  const reasons = left.map(({ path, what, why }) => `${[path, ...what].join(' ')}: ${why}`);
  throw new ClawError(
    'USAGE',
    `None of your edits can be part of a skill, so the skill would change nothing. ${reasons.join('; ')}. ` +
      'claw customize records them.',
    { data: { left } },
  );
}

async function treeEdits(
  installation: Installation,
  now: () => Date,
): Promise<readonly PackedEdit[]> {
  const edits = await findEdits(installation, now);
  return edits.map(({ path }) => ({
    path,
    before: installation.publishedFile(path),
    after: readTreeFile(installation.root, path),
  }));
}

type PackageParts = Pick<Draft, 'installation' | 'installed' | 'edits' | 'own'>;

/** Returns edits that the applied package would not reproduce, with the reasons. */
function notGiven(
  { installation, installed, edits, own }: PackageParts,
  skill: SkillPackage,
): readonly LeftoverEdit[] {
  const { releaseFile, pathMaps, resolutions, config } = installation;
  const protection = createProtection(config.protected);
  const layers = orderLayers([
    ...installed.filter(({ manifest }) => manifest.skill !== skill.manifest.skill),
    skill,
  ]);
  const answers = { decisions: [], resolutions };
  const { files, conflicts } = compose({ release: releaseFile, layers, answers, pathMaps });
  return edits.flatMap(({ path, after }): readonly LeftoverEdit[] => {
    const glob = protection.protectedBy(path);
    if (glob !== null)
      return [{ path, what: [], why: `no skill may change it: ${glob} is protected` }];
    const composed = files.get(path);
    const given = composed ? composed.file : releaseFile(path);
    if (isSameFile(given, after)) return [];
    const kind = structuredKind(path, readOwnStructured(releaseFile));
    if (kind !== null) return leftOfStructured(path, given, after, { own, kind });
    const conflict = conflicts.find((one) => one.path === path);
    const why = conflict?.reason ?? 'together with the other layers the file becomes another';
    return [{ path, what: [], why }];
  });
}

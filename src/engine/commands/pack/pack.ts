import { join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { compose } from '../../compose/compose.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { ClawError } from '../../errors.ts';
import { changedLines } from '../../merge/lines/changed-lines.ts';
import type { EngineContext } from '../../operation/context.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../../operation/installation.ts';
import { type OwnValues, readOwnValues, refuseSecrets } from '../../operation/secrets/secrets.ts';
import { createProtection } from '../../package/checks/protection.ts';
import { orderLayers } from '../../package/order.ts';
import { hasChanges } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { descriptionOf, intentNote, skillPage } from '../../package/templates.ts';
import { unwrittenIn } from '../../package/unwritten.ts';
import { listFolder } from '../../state/claw-folder.ts';
import { readTreeFile } from '../../state/disk.ts';
import { structuredKind } from '../../structured/kind.ts';
import { isSameFile, type TreeFile } from '../../tree.ts';
import { editsOf } from '../customize.ts';
import { type Declaration, declarationsOf, declare } from './declarations.ts';
import { groundEdits } from './ground.ts';
import { type Left, leftOfStructured } from './left.ts';
import { recordOrigin } from './origin.ts';
import { rangeEdits } from './range.ts';
import { findRenames, type PackedEdit } from './renames.ts';
import { testStub } from './test-stub.ts';
import { planPackage, writePackage } from './write.ts';

/** The source of a package: the unrecorded edits, or the changes of a range of commits (`a..b`). */
export type PackOptions = { readonly range: string | null; readonly description: string | null };

/**
 * Makes a package of edits under `skills/<name>/`: manifest, bases, intent notes and a test to fill in.
 * Applied to a clone without the edits, it gives the tree that it was made from; what it cannot give
 * is told.
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
  return resultOf('pack', 'done', { data: made.data, changes });
}

/** Plans `claw pack` of a package that is not there yet; refuses what that refuses. */
export async function planNewPackage(context: EngineContext, name: string) {
  const made = await makePackage(context, name, { range: null, description: null });
  const changes = planPackage(context.root, made);
  return { ...resultOf('pack', 'done', { changes }), data: made.data };
}

/** Tells whether `claw pack` would begin a package: neither a folder nor an applied skill has the name. */
export async function isNewPackage({ root }: EngineContext, name: string): Promise<boolean> {
  if (listFolder(join(root, `skills/${name}`)).length > 0) return false;
  const { state } = await readInstallation(root);
  return !state?.layers.some((layer) => layer.name === name);
}

async function makePackage({ root, now }: EngineContext, name: string, options: PackOptions) {
  const place = `skills/${name}`;
  if (listFolder(join(root, place)).length > 0) {
    throw new ClawError(
      'USAGE',
      `${place} is there already. claw pack ${name} --update puts your edits back into it.`,
      { path: place },
    );
  }
  const installation = await readInstallation(root);
  const installed = readInstalledPackages(installation);
  const range = options.range === null ? null : await rangeEdits(installation, options.range);
  const edits = range?.edits ?? (await treeEdits(installation, now));
  if (edits.length === 0) {
    throw new ClawError(
      'USAGE',
      'There are no edits to pack: change something, or give --range a..b.',
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
  const left = notGiven({ installation, installed, edits, own }, skill);
  refuseEmpty(skill, left);
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
  return { folder: place, files: draft, summary: `pack ${name}`, data };
}

/** @throws ClawError USAGE for a skill that would change nothing */
function refuseEmpty({ manifest }: SkillPackage, left: readonly Left[]): void {
  if (hasChanges(manifest)) return;
  const reasons = left.map(({ path, what, why }) => `${[path, ...what].join(' ')}: ${why}`);
  throw new ClawError(
    'USAGE',
    `Nothing of your edits is for a skill to bring, so that it would change nothing. ${reasons.join('; ')}. ` +
      'claw customize records them.',
    { data: { left } },
  );
}

async function treeEdits(
  installation: Installation,
  now: () => Date,
): Promise<readonly PackedEdit[]> {
  const edits = await editsOf(installation, now);
  return edits.map(({ path }) => ({
    path,
    before: installation.publishedFile(path),
    after: readTreeFile(installation.root, path),
  }));
}

type Draft = {
  readonly name: string;
  readonly description: string;
  readonly installation: Installation;
  readonly installed: readonly SkillPackage[];
  readonly edits: readonly PackedEdit[];
  readonly own: OwnValues;
};

function draftPackage(draft: Draft): Map<string, TreeFile> {
  const { name, description, installation } = draft;
  const { edits, depends } = groundEdits(installation, draft.installed, draft.edits);
  const files = new Map<string, TreeFile>();
  const put = (path: string, text: string) =>
    files.set(path, { bytes: Buffer.from(text), isExecutable: false });
  const plain = edits.filter(({ path }) => structuredKind(path) === null);
  const isStructured = ({ path }: PackedEdit) => structuredKind(path) !== null;
  const declared = declarationsOf(edits.filter(isStructured), draft.own);
  const renames = findRenames(plain);
  const moved = new Set(renames.values());
  const adds: string[] = [];
  const modifies: string[] = [];
  const fileOps: object[] = [];
  for (const { path, before, after } of plain) {
    const from = renames.get(path);
    const base =
      from === undefined ? before : (plain.find((edit) => edit.path === from)?.before ?? null);
    if (after === null) {
      if (moved.has(path) || before === null) continue;
      fileOps.push({ type: 'delete', path });
      files.set(`base/${path}`, before);
      continue;
    }
    if (base === null) {
      adds.push(path);
      files.set(`add/${path}`, after);
      continue;
    }
    if (from !== undefined) {
      fileOps.push({ type: 'rename', from, to: path });
      files.set(`base/${from}`, base);
      if (isSameFile(base, after)) continue;
    } else files.set(`base/${path}`, base);
    modifies.push(path);
    files.set(`modify/${path}`, after);
    put(`modify/${path}.intent.md`, intentNote(path, changedLines(base.bytes, after.bytes)));
  }
  const settings = declared.flatMap(({ section, key, value }) =>
    section[0] === 'env_additions' && value !== null ? [key] : [],
  );
  put('SKILL.md', skillPage(name, description, settings));
  const stub = testStub(name, installation.config.test, plain);
  if (stub !== null) put(testPath(name), stub);
  const test = stub === null ? [] : [testPath(name)];
  put('manifest.yaml', manifestOf(draft, { adds, modifies, fileOps, depends, declared, test }));
  return files;
}

function testPath(name: string): string {
  return `tests/${name}.test.ts`;
}

type Contents = {
  readonly adds: readonly string[];
  readonly modifies: readonly string[];
  readonly fileOps: readonly object[];
  readonly depends: readonly string[];
  readonly declared: readonly Declaration[];
  readonly test: readonly string[];
};

function manifestOf(
  { name, description, installation }: Draft,
  { adds, modifies, fileOps, depends, declared, test }: Contents,
): string {
  // Lines that left a file were the core's, and no skill takes those away.
  const wanted = declared.filter(({ value }) => value !== null);
  const manifest = {
    skill: name,
    version: '1.0.0',
    description,
    core_version: installation.coreVersion ?? '0.0.0',
    adds,
    modifies,
    ...(fileOps.length === 0 ? {} : { file_ops: fileOps }),
    ...(depends.length === 0 ? {} : { depends }),
    ...(wanted.length === 0 ? {} : { structured: {} }),
    test,
  };
  const document = parseDocument(stringify(manifest, { lineWidth: 0 }));
  declare(document, wanted);
  return document.toString({ lineWidth: 0 });
}

type Given = Pick<Draft, 'installation' | 'installed' | 'edits' | 'own'>;

/** Returns edits that the applied package would not reproduce, with the reasons. */
function notGiven(
  { installation, installed, edits, own }: Given,
  skill: SkillPackage,
): readonly Left[] {
  const { releaseFile, pathMaps, resolutions, config } = installation;
  const protection = createProtection(config.protected);
  const layers = orderLayers([
    ...installed.filter(({ manifest }) => manifest.skill !== skill.manifest.skill),
    skill,
  ]);
  const answers = { decisions: [], resolutions };
  const { files, conflicts } = compose({ release: releaseFile, layers, answers, pathMaps });
  return edits.flatMap(({ path, after }): readonly Left[] => {
    const glob = protection.protectedBy(path);
    if (glob !== null)
      return [{ path, what: [], why: `no skill may change it: ${glob} is protected` }];
    const composed = files.get(path);
    const given = composed ? composed.file : releaseFile(path);
    if (isSameFile(given, after)) return [];
    if (structuredKind(path) !== null) return leftOfStructured(path, given, after, own);
    const conflict = conflicts.find((one) => one.path === path);
    const why = conflict?.reason ?? 'together with the other layers the file becomes another';
    return [{ path, what: [], why }];
  });
}

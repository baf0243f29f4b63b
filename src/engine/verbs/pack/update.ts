import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { compose } from '../../compose/compose.ts';
import type { Touch } from '../../compose/composition.ts';
import { ClawError } from '../../errors.ts';
import { orderLayers } from '../../skill/order.ts';
import type { SkillPackage } from '../../skill/package.ts';
import { readPackage } from '../../skill/read-package.ts';
import { bundledSkills } from '../../skill/sources.ts';
import { structuredKind } from '../../structured/kind.ts';
import { isSameFile, type TreeFile } from '../../tree.ts';
import { type EngineContext, resultOf, type VerbResult } from '../context.ts';
import { type Installation, readInstallation } from '../installation.ts';
import { writePackage } from './write.ts';

/**
 * Writes a package under `skills/` against the core that is installed now: each changed file is what
 * its merge gives here, each base the file that it was merged onto. Blocked where the merge is.
 *
 * @throws ClawError SKILL_NOT_FOUND
 */
export async function packUpdate(context: EngineContext, name: string): Promise<VerbResult> {
  const { root } = context;
  if (!bundledSkills(root).includes(name)) {
    throw new ClawError('SKILL_NOT_FOUND', `There is no package skills/${name} to renew.`, {
      data: { nearest: [] },
    });
  }
  const installation = await readInstallation(root);
  const options = { protectedPaths: installation.config.protected };
  const skill = readPackage(join(root, 'skills', name), options);
  const layers = orderLayers([...neededBy(skill, root, options), skill]);
  const { releaseFile, pathMaps, resolutions } = installation;
  const answers = { decisions: [], resolutions };
  const composition = compose({ release: releaseFile, layers, answers, pathMaps });
  if (composition.conflicts.length > 0) {
    return resultOf('pack', 'blocked', { conflicts: composition.conflicts });
  }
  const touches = new Map(
    [...composition.files].flatMap(([path, { touches: all }]) => {
      const own = all.filter(({ layer }) => layer === skill.manifest.skill);
      const [first, last] = [own[0], own.at(-1)];
      return first && last && structuredKind(path) === null
        ? [[path, { ...last, before: first.before }] as const]
        : [];
    }),
  );
  const files = renewed(installation, skill, touches);
  const changes = writePackage(context, `skills/${name}`, files, `pack --update ${name}`);
  const outcome = changes.length === 0 ? 'nothing' : 'done';
  const { coreVersion } = installation;
  return resultOf('pack', outcome, { changes, data: { skill: name, coreVersion } });
}

function neededBy(
  { manifest }: SkillPackage,
  root: string,
  options: { readonly protectedPaths: readonly string[] },
): readonly SkillPackage[] {
  return manifest.depends.flatMap(({ name }) => {
    const needed = readPackage(join(root, 'skills', name), options);
    return [...neededBy(needed, root, options), needed];
  });
}

function renewed(
  { coreVersion, releaseFile }: Installation,
  skill: SkillPackage,
  touches: ReadonlyMap<string, Touch>,
): Map<string, TreeFile> {
  const { manifest } = skill;
  const files = new Map(
    [...skill.files].filter(([path]) => !/^(add|modify|base)\//.test(path) || isNote(path)),
  );
  const adds: string[] = [];
  const modifies: string[] = [];
  const deletes: string[] = [];
  const renames = manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op]));
  const moved = new Map(renames.map(({ from, to }) => [to, from]));
  for (const [path, { before, after }] of touches) {
    const from = moved.get(path);
    const base = from === undefined ? before : releaseFile(from);
    if (renames.some((op) => op.from === path)) continue;
    if (isSameFile(base, after)) continue;
    if (after === null) {
      deletes.push(path);
      if (base) files.set(`base/${path}`, base);
    } else if (base === null) {
      adds.push(path);
      files.set(`add/${path}`, after);
    } else {
      modifies.push(path);
      files.set(`modify/${path}`, after);
      files.set(`base/${from ?? path}`, base);
    }
  }
  for (const { from } of renames) {
    const file = releaseFile(from);
    if (file) files.set(`base/${from}`, file);
  }
  const notes = [...files.keys()].filter(isNote);
  for (const note of notes) {
    if (!modifies.includes(note.slice('modify/'.length, -INTENT.length))) files.delete(note);
  }
  const ops = [...renames, ...deletes.map((path) => ({ type: 'delete', path }))];
  const keys = { adds, modifies, file_ops: ops, core_version: coreVersion ?? manifest.coreVersion };
  const text = files.get('manifest.yaml');
  const isMoved = [...files].some(
    ([path, file]) => !isSameFile(file, skill.files.get(path) ?? null),
  );
  const isFewer = [...skill.files.keys()].some((path) => !files.has(path));
  if (text && (isMoved || isFewer || manifest.coreVersion !== keys.core_version)) {
    files.set('manifest.yaml', {
      ...text,
      bytes: renewedManifest(text.bytes, keys, manifest.version),
    });
  }
  return files;
}

const INTENT = '.intent.md';

function isNote(path: string): boolean {
  return path.startsWith('modify/') && path.endsWith(INTENT);
}

/** The manifest with other keys, its comments and order as they were; a changed package has a new version. */
function renewedManifest(
  bytes: Buffer,
  keys: Readonly<Record<string, unknown>>,
  version: string,
): Buffer {
  const document = parseDocument(bytes.toString('utf8'));
  for (const [key, value] of Object.entries(keys)) {
    const isAbsent = Array.isArray(value) && value.length === 0 && !document.has(key);
    const isSame = JSON.stringify(plainOf(document.get(key))) === JSON.stringify(value);
    if (!isAbsent && !isSame) document.set(key, document.createNode(value));
  }
  const [major, minor, patch] = version.split(/[.+-]/).map(Number);
  document.set('version', `${major}.${minor}.${(patch ?? 0) + 1}`);
  return Buffer.from(document.toString({ lineWidth: 0 }));
}

function plainOf(value: unknown): unknown {
  const isNode = typeof value === 'object' && value !== null && 'toJSON' in value;
  return isNode && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

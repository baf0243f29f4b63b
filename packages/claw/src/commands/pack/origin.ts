import type { TreeFile } from '@patchclaw/merge';
import { parseDocument } from 'yaml';
import { changeDigest } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { runGit } from '../../repository/git.ts';
import { rangePatches } from '../../repository/git-patches.ts';
import type { RangeEdits } from './range.ts';

/** A manifest has 64 KiB, and a change of more commits than these is known by what it changes. */
const MAX_COMMITS = 400;

/**
 * Writes the commits of a range into the manifest of the package that was made of them, so that `update`
 * can tell when a release contains them. Not of a range whose ends lie on two branches: such a package
 * takes changes back as well, which no commit of it tells.
 */
export async function recordOrigin(
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

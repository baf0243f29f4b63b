import { join } from 'node:path';
import { isSameFile, type Tree } from '@patchclaw/merge';
import type { FileChange } from '../../compose/plan.ts';
import type { Change } from '../../contract/result.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { readTreeFile } from '../../installed/disk.ts';
import { stateDigest } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { reportChanges } from '../../operation/report.ts';
import { stepOf } from '../../operation/state-steps.ts';
import { commitSteps } from '../../transaction/commit.ts';

type PackageFolder = {
  readonly folder: string;
  readonly files: Tree;
  readonly summary: string;
};

/** Makes a folder hold exactly a package's files, as one transaction. @returns what changed */
export function writePackage(
  { root, now }: EngineContext,
  folder: string,
  files: Tree,
  summary: string,
): readonly Change[] {
  const changed = changedFiles(root, { folder, files, summary });
  if (changed.length === 0) return [];
  const state = stateDigest(root);
  const steps = changed.map(({ path, before, after }) => stepOf(path, before, after));
  const change = { verb: 'pack', summary, steps, stateBefore: state, stateAfter: state };
  commitSteps(root, change, { now });
  return reportChanges(changed, null, summary);
}

/** Lists what `writePackage` would change. */
export function planPackage(root: string, wanted: PackageFolder): readonly Change[] {
  return reportChanges(changedFiles(root, wanted), null, wanted.summary);
}

function changedFiles(root: string, { folder, files }: PackageFolder): readonly FileChange[] {
  const present = listFolder(join(root, folder)).map((path) => `${folder}/${path}`);
  const wanted = new Map([...files].map(([path, file]) => [`${folder}/${path}`, file]));
  const paths = [...new Set([...present, ...wanted.keys()])].sort();
  return paths.flatMap((path) => {
    const before = readTreeFile(root, path);
    const after = wanted.get(path) ?? null;
    return isSameFile(before, after) ? [] : [{ path, before, after, movedFrom: null }];
  });
}

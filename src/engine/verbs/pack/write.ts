import { join } from 'node:path';
import { readTreeFile } from '../../state/disk.ts';
import { listFolder } from '../../state/kept.ts';
import { stateDigest } from '../../state/state-file.ts';
import { commitSteps } from '../../transaction/commit.ts';
import { isSameFile, type Tree } from '../../tree.ts';
import type { Change, EngineContext } from '../context.ts';
import { stepOf } from '../state-steps.ts';

/** Makes a folder hold exactly a package's files, as one transaction. @returns what changed */
export function writePackage(
  { root, now }: EngineContext,
  folder: string,
  files: Tree,
  summary: string,
): readonly Change[] {
  const present = listFolder(join(root, folder)).map((path) => `${folder}/${path}`);
  const wanted = new Map([...files].map(([path, file]) => [`${folder}/${path}`, file]));
  const paths = [...new Set([...present, ...wanted.keys()])].sort();
  const changed = paths.flatMap((path) => {
    const before = readTreeFile(root, path);
    const after = wanted.get(path) ?? null;
    return isSameFile(before, after) ? [] : [{ path, before, after }];
  });
  if (changed.length === 0) return [];
  const state = stateDigest(root);
  const steps = changed.map(({ path, before, after }) => stepOf(path, before, after));
  const change = { verb: 'pack', summary, steps, stateBefore: state, stateAfter: state };
  commitSteps(root, change, { now });
  return changed.map(({ path, before, after }) => {
    const kind = before === null ? 'add' : after === null ? 'delete' : 'modify';
    return { path, kind, cause: summary } as const;
  });
}

import type { TreeFile } from '@patchclaw/merge';
import { type Followed, followImports } from '../../compose/follow-imports.ts';
import { shellWord } from '../../errors.ts';
import { mapPath } from '../../package/manifest/path-map.ts';
import type { Operation } from '../types.ts';
import { updateOptionsOf } from '../update-options.ts';

type Lookup = (path: string) => TreeFile | null;

/**
 * Lists files of a planned tree that still import a moved file by its old path. They hold unrecorded edits of
 * the owner, which an update leaves unchanged.
 *
 * @param planned the file in the new tree
 * @returns lines that begin with a line break; empty where there are none
 */
export function leftBehind(
  { core, arguments: [wanted = ''], options = {}, plan, installation }: Operation,
  paths: Iterable<string>,
  planned: Lookup,
): string {
  if (core == null) return '';
  const has = (path: string) => planned(path) !== null;
  const moved = (path: string) =>
    has(path) ? path : mapPath(path, installation.coreVersion, plan.pathMaps);
  const groups = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    const file = planned(path);
    if (file === null) continue;
    const { followed } = followImports(file, { from: path, to: path, moved, has });
    for (const what of new Set(followed.map(told))) {
      groups.set(what, [...(groups.get(what) ?? []), path]);
    }
  }
  if (groups.size === 0) return '';
  const again = updateOptionsOf(options).moved.map((move) => `--moved ${shellWord(move)}`);
  const lines = [...groups].map(([what, files]) => `\n${what}: ${files.sort().join(', ')}`);
  return (
    `${lines.join('')}\nImports in recorded edits follow a move: claw customize "what you changed and why", ` +
    `then ${[`claw update ${shellWord(wanted)}`, ...again].join(' ')}`
  );
}

function told({ from, to }: Followed): string {
  return `${from} is ${to} now, and is still imported by its former path in`;
}

import { compose } from '../compose/compose.ts';
import type { Composition } from '../compose/composition.ts';
import { type FileChange, planTree } from '../compose/plan.ts';
import { renamesOf } from '../compose/renames.ts';
import type { Conflict } from '../conflict.ts';
import { orderLayers } from '../skill/order.ts';
import type { SkillPackage } from '../skill/package.ts';
import { readTreeFile } from '../state/disk.ts';
import type { TreeFile } from '../tree.ts';
import type { Installation } from './installation.ts';
import { findTakenPlaces } from './places.ts';

/** The layers that a command wants, and what publishing them takes. */
export type TargetPlan = {
  readonly layers: readonly SkillPackage[];
  readonly target: Composition;
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
};

type Lookup = (path: string) => TreeFile | null;

/** Composes the wanted layers on the installed core and plans it against the disk. */
export function planLayers(
  installation: Installation,
  installed: readonly SkillPackage[],
  wanted: readonly SkillPackage[],
  published: Lookup = installation.publishedFile,
): TargetPlan {
  const { root, state } = installation;
  const release = remember(installation.releaseFile);
  const layers = orderLayers(wanted);
  const target = compose({ release, layers });
  const plan = planTree({
    old: {
      file: remember(published),
      paths: state?.files.keys() ?? [],
      renames: renamesOf(orderLayers(installed)),
    },
    disk: remember((path) => readTreeFile(root, path)),
    release,
    target,
  });
  const taken = findTakenPlaces(root, plan.changes);
  const { changes, conflicts } = plan;
  return { layers, target, changes, conflicts: [...conflicts, ...taken] };
}

/** Reads each file once: a plan must not see a file change under it. */
function remember(read: Lookup): Lookup {
  const known = new Map<string, TreeFile | null>();
  return (path) => {
    const file = known.get(path);
    if (file !== undefined) return file;
    const fresh = read(path);
    known.set(path, fresh);
    return fresh;
  };
}

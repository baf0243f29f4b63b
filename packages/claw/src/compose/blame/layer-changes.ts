import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import type { SkillPackage } from '../../package/package.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import { type ComposeInput, compose } from '../compose.ts';
import type { Composition } from '../composition.ts';
import { mergeByKey } from '../files/structured-file.ts';
import type { FileChange } from '../plan.ts';
import type { Touch } from './attribution.ts';

/**
 * Returns the diff of one layer against the final tree, by path. Lines that later layers changed again are
 * diffed against the tree at this layer's turn.
 *
 * Declarations in structured files have no order: their diff is the final file against the file without this
 * layer's.
 */
export function layerChanges(
  input: ComposeInput,
  composition: Composition,
  layer: SkillPackage,
): readonly FileChange[] {
  const works = worksOf(composition, layer.manifest.skill);
  const sums = works.map(({ path, origin, touches }) => ({
    path,
    origin,
    before: touches[0]?.before ?? null,
    after: touches.at(-1)?.after ?? null,
    movedFrom: null,
  }));
  const undeclared = layer.kind === 'skill' ? withoutDeclarations(input, layer) : null;
  const changes = sums.map((sum) =>
    undeclared !== null && structuredKind(sum.path, composition.ownStructured) !== null
      ? { ...sum, before: undeclared(sum.path) }
      : sum,
  );
  return joinMoves(changes)
    .map((change) => inPresentFile(change, composition))
    .filter(({ before, after, movedFrom }) => movedFrom !== null || !isSameFile(before, after))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

type Work = { readonly path: string; readonly origin: string; readonly touches: readonly Touch[] };

/**
 * Collects the work of a layer by path. A renamed file takes the work on it along, and counts at its present
 * path.
 */
function worksOf({ files }: Composition, name: string): readonly Work[] {
  const seen = new Set<Touch>();
  const present = [...files].filter(([, { file }]) => file !== null).reverse();
  const gone = [...files].filter(([, { file }]) => file === null);
  return [...present, ...gone].flatMap(([path, { origin, touches }]) => {
    const own = touches.filter((touch) => touch.layer === name && !seen.has(touch));
    for (const touch of own) seen.add(touch);
    return own.length === 0 ? [] : [{ path, origin, touches: own }];
  });
}

type Sum = FileChange & { readonly origin: string };

function joinMoves(sums: readonly Sum[]): readonly FileChange[] {
  const gone = sums.filter(({ before, after }) => before !== null && after === null);
  const moved = new Set<Sum>();
  const joined = sums.map((sum) => {
    const { path, origin, before, after } = sum;
    if (before === null || after === null) return sum;
    const source = gone.find((one) => one.origin === origin && isSameFile(one.before, before));
    if (source === undefined) return sum;
    moved.add(source);
    return { path, origin, before, after, movedFrom: source.path };
  });
  return joined
    .filter((sum) => !moved.has(sum))
    .map(({ path, before, after, movedFrom }) => ({ path, before, after, movedFrom }));
}

/** Shows the same change in the final file: changes of later layers are on both sides. */
function inPresentFile(change: FileChange, { files, ownStructured }: Composition): FileChange {
  const { path, before, after } = change;
  const present = files.get(path)?.file ?? null;
  if (before === null || after === null || present === null) return change;
  if (isSameFile(after, present)) return change;
  const versions = { base: after, ours: present, theirs: before };
  const kind = structuredKind(path, ownStructured);
  if (kind !== null) {
    const open = (conflict: Conflict) => ({ kind: 'open', conflict }) as const;
    const merged = mergeByKey({ path, kind }, versions, ['the layers after it', 'it'], open);
    return merged.conflicts.length > 0
      ? change
      : { ...change, before: merged.file, after: present };
  }
  const merged = mergeFiles(versions, { path });
  return merged.kind === 'clean' ? { ...change, before: merged.file, after: present } : change;
}

function withoutDeclarations(
  input: ComposeInput,
  layer: SkillPackage,
): (path: string) => TreeFile | null {
  const others = input.layers
    .filter((one) => one.kind === 'skill' && one.manifest.skill !== layer.manifest.skill)
    .map((one) => ({
      ...one,
      manifest: { ...one.manifest, adds: [], modifies: [], fileOps: [] },
    }));
  const { files } = compose({ ...input, layers: others });
  return (path) => {
    const made = files.get(path);
    return made ? made.file : input.release(path);
  };
}

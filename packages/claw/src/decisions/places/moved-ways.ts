import {
  type EditedBlock,
  findEditedBlock,
  type Hunk,
  trimmed,
  type WholeSides,
  withEdit,
  withSharedEnds,
} from '@patchclaw/merge';

type Side = 'ours' | 'theirs';

/** An edit at the new place of the block that the other side moved. */
export type MovedEdit = {
  readonly editor: Side;
  /** The place from which it was moved, and the one that it was moved to: the same if both are in one. */
  readonly from: number;
  readonly to: number;
  /** The lines at the new place, with the edit. */
  readonly lines: readonly string[];
};

/** Finds edits of blocks that the other side moved, within one open hunk or to another one. */
export function movedEdits(hunks: readonly Hunk[]): readonly MovedEdit[] {
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  return open.flatMap((hunk, from) => {
    const sides = withSharedEnds(hunks, hunk);
    return (['theirs', 'ours'] as const).flatMap((editor) => {
      const mover = editor === 'ours' ? 'theirs' : 'ours';
      const within = editWithin(sides, editor, mover);
      if (within !== null) return [{ editor, from, to: from, lines: within }];
      const found = open.flatMap((other, to): readonly MovedEdit[] => {
        const isNew = other.base.length === 0 && other[editor].length === 0;
        const lines = isNew ? editIn(sides, editor, other[mover])?.lines : null;
        return lines == null ? [] : [{ editor, from, to, lines }];
      });
      return found.length === 1 ? found : [];
    });
  });
}

/** Returns the mover's lines with the edit, where the block is at another place among the others of the base. */
function editWithin(sides: WholeSides, editor: Side, mover: Side): readonly string[] | null {
  const { base, head, tail } = sides;
  const moved = sides[mover];
  const found = editIn(sides, editor, moved);
  if (found === null) return null;
  const { block, at, lines } = found;
  const isOnce = (line: string, all: readonly string[]) =>
    all.filter((one) => one === line).length === 1;
  const end = block.start + block.before.length;
  const isReordered = base.some((line, place) => {
    if (place >= block.start && place < end) return false;
    if (line.trim() === '' || !isOnce(line, base) || !isOnce(line, moved)) return false;
    return place < block.start !== moved.indexOf(line) < at;
  });
  return isReordered ? lines.slice(head, lines.length - tail) : null;
}

function editIn(sides: WholeSides, editor: Side, moved: readonly string[]) {
  const isWhole = (block: EditedBlock, at: number) => withEdit(moved, block, at) !== null;
  const found = findEditedBlock(sides.base, sides[editor], trimmed(moved), isWhole);
  const lines = found === null ? null : withEdit(moved, found.block, found.at);
  return found === null || lines === null ? null : { ...found, lines };
}

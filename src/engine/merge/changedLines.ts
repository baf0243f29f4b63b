import { diffLines } from './diff.ts';
import { at } from './edits.ts';
import { internLines } from './intern.ts';
import { splitLines } from './lines.ts';

/** Lines from the first to the last of a stretch, both counted in, the first of a file being 1. */
export type LineRange = readonly [from: number, to: number];

/**
 * Which lines of a file are not as they were, by their numbers in the file as it is now.
 *
 * Where lines were only taken out, the line that follows the gap stands for them (the last line at
 * the end of the file); a file that is gone, or empty, has none. Line ends do not count.
 */
export function changedLines(before: Buffer | null, now: Buffer | null): readonly LineRange[] {
  const base = splitLines(before?.toString('latin1') ?? '');
  const ours = splitLines(now?.toString('latin1') ?? '');
  const texts = internLines({ base, ours, theirs: [] });
  const partners = diffLines(texts.base, texts.ours, texts.size);
  const ranges: LineRange[] = [];
  let line = 0;
  let index = 0;
  const close = (nextKept: number, isGap: boolean) => {
    if (nextKept > line) ranges.push([line + 1, nextKept]);
    else if (isGap && ours.length > 0) {
      const marker = Math.min(line + 1, ours.length);
      ranges.push([marker, marker]);
    }
  };
  let isGap = false;
  for (; index < base.length; index++) {
    const partner = at(partners, index);
    if (partner < 0) {
      isGap = true;
      continue;
    }
    close(partner, isGap);
    isGap = false;
    line = partner + 1;
  }
  close(ours.length, isGap);
  return ranges;
}

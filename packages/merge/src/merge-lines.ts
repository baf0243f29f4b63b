import { disputeRepeats, joinRepeats } from './checks/dispute-repeats.ts';
import { disputeDuplicateInsertions } from './checks/duplicate-insertions.ts';
import { disputeMisplacedEdits } from './checks/edits-in-wrong-block.ts';
import { checkPlaces } from './checks/edits-in-wrong-declaration.ts';
import { joinRegions } from './checks/join-regions.ts';
import { disputeHeads, type Heads } from './heads/dispute-heads.ts';
import { type Interned, internLines } from './lines/interned-lines.ts';
import {
  bomOf,
  closeLines,
  contentOf,
  endLine,
  type Hunk,
  type LineEnds,
  mapVersions,
  mergeLineEnds,
  toTarget,
  withBom,
  withoutBom,
} from './lines/lines.ts';
import {
  alignRegions,
  type LineSpan,
  type Region,
  type Rule,
  refineConflict,
} from './lines/regions.ts';
import { resolveSameChanges } from './lines/same-change.ts';
import { isSound, resolveRegions } from './resolve-regions.ts';
import { resolveRest } from './resolve-remaining.ts';
import type { Format } from './syntax/language.ts';
import { memoizeParse } from './syntax/parse.ts';
import { mergeValue, type Versions } from './versions.ts';

/** Lines between two conflicts that can be one. */
const MAX_BARE = 3;
const WORD = /[\p{L}\p{N}]/u;
/** The begin or end of a block of code in Markdown. */
const FENCE = /^\s*(?:`{3,}|~{3,})\s*\w*\s*$/;

/**
 * Merges two edits of one text line by line, and resolves the remaining conflicts by layout and syntax.
 *
 * Lines keep their terminators ({@link splitLines}), so joining the result restores every byte. The same edit on both
 * sides counts once, as in git, so the result of a chain of merges can depend on its order. Edits with no unchanged
 * line between them conflict.
 *
 * Line ends, a missing last newline and a byte order mark do not count as words. Each is merged by itself: a change
 * on one side wins, and lines that a side adds get the merged text's usual end. They never conflict: if both sides
 * changed one, ours wins.
 *
 * @param versions arrays of lines, any of them empty; never binary
 * @param format null for a text that is merged by lines alone
 * @param heads reads what must not be named twice; null where that is unknown
 * @returns hunks in file order, resolved and conflict in turn; disagreement is a hunk, never thrown
 */
export function mergeLines(
  versions: Versions<readonly string[]>,
  format: Format | null = null,
  heads: Heads | null = null,
): readonly Hunk[] {
  const lines = mapVersions(versions, withoutBom);
  const ends = mergeLineEnds(lines);
  const texts = internLines(lines);
  const merged = mergeRegions(lines, texts, format);
  const regions = heads === null ? merged : disputeHeads(merged, lines, heads);
  const refined = regions.flatMap((region) =>
    region.kind === 'conflict' ? refineConflict(region, texts) : [region],
  );
  const hunks = toHunks(joinNearConflicts(refined, lines), lines, ends);
  return beginWith(mergeValue(mapVersions(versions, bomOf)), closeLines(hunks, ends));
}

/** Lists the rules beyond lines that resolve conflicts of a merge, one entry for each resolved conflict. */
export function appliedRules(
  versions: Versions<readonly string[]>,
  format: Format | null,
): readonly Rule[] {
  const lines = mapVersions(versions, withoutBom);
  const regions = mergeRegions(lines, internLines(lines), format);
  return regions.flatMap((region, index): Rule[] => {
    if (region.rule !== undefined) return [region.rule];
    const kinds = [region.kind, regions[index + 1]?.kind];
    return kinds.includes('ours') && kinds.includes('theirs') ? ['beside'] : [];
  });
}

/** Cuts three texts into regions and applies the rules to each. */
export function mergeRegions(
  lines: Versions<readonly string[]>,
  texts: Interned,
  format: Format | null,
): readonly Region[] {
  const whole = { texts, lines, format };
  const joined = disputeDuplicateInsertions(joinRepeats(alignRegions(texts), texts), whole);
  const disputed = disputeMisplacedEdits(joined, texts, lines);
  const agreed = resolveSameChanges(disputed, { texts, lines, keepsBreaks: format === 'markdown' });
  // More of the same can be what the other side has a few lines further on.
  const isOnce =
    agreed === disputed ||
    disputeDuplicateInsertions(disputeRepeats(agreed, texts), whole) === agreed;
  const aligned = isOnce ? agreed : disputed;
  const resolved = format === null ? aligned : resolveRegions(aligned, texts, lines, format);
  const regions = resolved === aligned ? aligned : disputeRepeats(resolved, texts);
  return resolveLast(regions, texts, lines, format) ?? regions;
}

/**
 * Resolves the conflicts whose answer only the whole result can confirm; null where one is left, or a check has a
 * doubt.
 */
function resolveLast(
  regions: readonly Region[],
  texts: Interned,
  lines: Versions<readonly string[]>,
  format: Format | null,
): readonly Region[] | null {
  const resolved = resolveRest(regions, texts, lines, format);
  if (resolved === null) return null;
  const joined = disputeDuplicateInsertions(joinRepeats(resolved, texts), { texts, lines, format });
  const checked = disputeMisplacedEdits(joined, texts, lines);
  const isDoubtful = checked.some(({ kind }) => kind === 'conflict');
  return !isDoubtful && isSound(checked, texts, lines, format) ? checked : null;
}

/** Joins conflicts between which no line says anything: one place is asked about once, as in git. */
function joinNearConflicts(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): readonly Region[] {
  const isBare = ({ kind, ours }: Region) =>
    (kind === 'all' || kind === 'both') &&
    ours.end - ours.start <= MAX_BARE &&
    lines.ours.slice(ours.start, ours.end).every((line) => !WORD.test(line) || FENCE.test(line));
  const stretches: LineSpan[] = [];
  let last = -1;
  for (const [index, region] of regions.entries()) {
    if (region.kind === 'conflict') {
      if (last >= 0) stretches.push({ start: last, end: index + 1 });
      last = index;
    } else if (!isBare(region)) last = -1;
  }
  return stretches.length === 0 ? regions : joinRegions(regions, stretches);
}

function toHunks(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  ends: LineEnds,
): readonly Hunk[] {
  const take = (side: keyof Versions<unknown>, { start, end }: LineSpan) =>
    lines[side].slice(start, end).map((line) => toTarget(line, side, ends));
  const hunks: Hunk[] = [];
  let resolved: string[] = [];
  for (const region of regions) {
    if (region.kind === 'conflict') {
      if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
      resolved = [];
      hunks.push({
        kind: 'conflict',
        base: take('base', region.base),
        ours: take('ours', region.ours),
        theirs: take('theirs', region.theirs),
      });
    } else if (region.kind === 'resolved') {
      for (const line of region.lines) resolved.push(endLine(contentOf(line), ends.target));
    } else if (region.kind === 'all') {
      for (const line of mergeAligned(region, lines)) resolved.push(line);
    } else {
      const side = region.kind === 'theirs' ? 'theirs' : 'ours';
      for (const line of take(side, region[side])) resolved.push(line);
    }
  }
  if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
  return hunks;
}

/** Merges lines with the same words in all three texts, which may still differ in their ends: then in length, too. */
function mergeAligned(
  { base, ours, theirs }: Versions<LineSpan>,
  lines: Versions<readonly string[]>,
): readonly string[] {
  return lines.ours.slice(ours.start, ours.end).map((mine, offset) => {
    const isChanged = mine.length !== lines.base[base.start + offset]?.length;
    return isChanged ? mine : (lines.theirs[theirs.start + offset] ?? mine);
  });
}

/** Puts the byte order mark first, whichever side of a conflict at the head is chosen later. */
function beginWith(bom: ReturnType<typeof bomOf>, hunks: readonly Hunk[]): readonly Hunk[] {
  const [first, ...rest] = hunks;
  if (bom === '') return hunks;
  if (first?.kind !== 'conflict') {
    return [{ kind: 'resolved', lines: withBom(first?.lines ?? [], bom) }, ...rest];
  }
  const marked = mapVersions(first, (side) => withBom(side, bom));
  return [{ kind: 'conflict', ...marked }, ...rest];
}

/** A reason to make changes of different lines a conflict: a block occurs twice, or an edit is misplaced. */
export type Reopening = 'repeated' | 'misplaced';

/**
 * Finds out why a merge without conflicting lines is a conflict all the same. `mergeFault` reports names declared
 * twice and texts that do not parse.
 *
 * @param format null for a text that is merged by lines alone
 * @returns null where lines are disputed, or none of these checks has a doubt
 */
export function reopeningOf(
  versions: Versions<readonly string[]>,
  format: Format | null,
): Reopening | null {
  const lines = mapVersions(versions, withoutBom);
  const texts = internLines(lines);
  const aligned = alignRegions(texts);
  if (isOpen(aligned)) return null;
  const joined = disputeDuplicateInsertions(joinRepeats(aligned, texts), { texts, lines, format });
  if (isOpen(joined)) return 'repeated';
  const regions = disputeMisplacedEdits(joined, texts, lines);
  if (isOpen(regions)) return 'misplaced';
  if (format === null) return null;
  const checked = checkPlaces(texts, lines, format, memoizeParse())(regions);
  return isOpen(checked) ? 'misplaced' : null;
}

function isOpen(regions: readonly Region[]): boolean {
  return regions.some(({ kind }) => kind === 'conflict');
}

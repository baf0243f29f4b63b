import type { LineSpan } from '../lines/regions.ts';
import type { Order } from '../lines/sorted-lines.ts';
import { headEnd, type Unit } from './member-units.ts';
import type { NamedList } from './named-lists.ts';
import type { Side } from './parsed-side.ts';

/** Insertions of one side before, between and after the members of the base; one run for each gap. */
export type Gaps = readonly (readonly KeyedUnit[])[];

/** A disputed stretch of ours, and what it has in each gap of the base. */
type Target = {
  readonly side: Side;
  readonly list: NamedList;
  readonly span: LineSpan;
  /** All units of the list. */
  readonly units: readonly Unit[];
  readonly gaps: Gaps;
  /** The number of units of the list before the disputed ones. */
  readonly skipped: number;
};

type Source = { readonly side: Side; readonly run: readonly Unit[] };

type Edit = { readonly at: number; readonly text: string };

/**
 * Returns a stretch of ours with theirs' units inserted in each gap and separators corrected: after ours' own units,
 * or among them if the list has an order. Null if a separator outside the stretch would have to change, or a comment
 * would swallow a unit.
 */
export function spliceUnits(
  ours: Target,
  theirs: { side: Side; gaps: Gaps },
  order: Order | null,
): string | null {
  const parts: string[] = [];
  let from = ours.span.start;
  let index = ours.skipped;
  for (const [gap, units] of theirs.gaps.entries()) {
    const own = ours.gaps[gap] ?? [];
    for (const { after, run } of partRun(units, own, order)) {
      const edits = editsAt(ours, index + after, { side: theirs.side, run });
      if (edits === null) return null;
      for (const { at, text } of edits) {
        parts.push(ours.side.text.slice(from, at), text);
        from = at;
      }
    }
    // The unit of the base that ends this gap.
    index += own.length + 1;
  }
  return parts.join('') + ours.side.text.slice(from, ours.span.end);
}

/** Parts units by the number of ours' own that they come after. */
function partRun(units: readonly Unit[], own: readonly Unit[], order: Order | null) {
  const nameOf = ({ member }: Unit) => member.names?.[0] ?? '';
  const parts: { after: number; run: Unit[] }[] = [];
  for (const unit of units) {
    const later = own.findIndex((one) => order?.(nameOf(unit), nameOf(one)) === true);
    const after = later < 0 ? own.length : later;
    const last = parts.at(-1);
    if (last?.after === after) last.run.push(unit);
    else parts.push({ after, run: [unit] });
  }
  return parts;
}

function editsAt(
  { side, list, span, units }: Target,
  index: number,
  source: Source,
): readonly Edit[] | null {
  const anchor = units[index - 1];
  const place = anchor?.end ?? headEnd(side, list);
  const separator = separatorIn(list, source);
  const last = anchor ?? source.run.at(-1);
  const isClosed = units[index] !== undefined || last?.separator !== '';
  const text = textOf(source, separator, isClosed);
  const edits: Edit[] = [];
  if (separator !== '' && anchor?.separator === '') {
    if (anchor.bodyEnd < span.start) return null;
    edits.push({ at: anchor.bodyEnd, text: separator });
  }
  if (place >= span.start && place > 0) {
    const startsLine = /^[ \t]*\n/.test(text);
    const behind = side.text.slice(anchor?.separatorEnd, anchor?.end);
    if (!startsLine && behind.includes('//')) return null;
    const isGlued = !startsLine && list.kind === 'imports';
    return [...edits, { at: place, text: isGlued ? `\n${text}` : text }];
  }
  // The line before belongs to others: text that would follow on it becomes lines of its own.
  const isLines = place === 0 || /^[ \t]*\n/.test(text);
  if (!isLines) return null;
  const lines = place === 0 ? text : text.replace(/^[ \t]*\n/, '');
  return [{ at: span.start, text: `${lines}\n` }];
}

/** Returns the separator between two members; `''` where a line end is enough, or none is needed. */
function separatorIn({ kind }: NamedList, { side, run }: Source): string {
  if (kind === 'imports' || kind === 'class' || kind === 'union') return '';
  if (kind !== 'interface') return ',';
  const [first] = run;
  const isOnLines = first !== undefined && /^\s*\n/.test(side.text.slice(first.start, first.end));
  return isOnLines ? '' : ';';
}

/** Returns the units as written in theirs; the last one gets a separator, or loses it, as needed. */
function textOf({ side: { text }, run }: Source, separator: string, isClosed: boolean): string {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return '';
  const head = text.slice(first.start, last.bodyEnd);
  if (separator === '' || isClosed === (last.separator !== '')) {
    return head + text.slice(last.bodyEnd, last.end);
  }
  if (isClosed) return head + separator + text.slice(last.bodyEnd, last.end);
  return (
    head + text.slice(last.bodyEnd, last.separatorEnd - 1) + text.slice(last.separatorEnd, last.end)
  );
}

/** A unit and its words. */
export type KeyedUnit = Unit & { readonly key: string };

/** Compares a side's units with the base's; null if one of the base is changed, moved or removed. */
export function gapsOf(base: readonly KeyedUnit[], side: readonly KeyedUnit[]): Gaps | null {
  const gaps: KeyedUnit[][] = [[]];
  for (const unit of side) {
    const isNext = unit.key === base[gaps.length - 1]?.key;
    if (isNext) gaps.push([]);
    else gaps.at(-1)?.push(unit);
  }
  return gaps.length === base.length + 1 ? gaps : null;
}

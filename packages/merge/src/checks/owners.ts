import { at, type Interned } from '../lines/intern.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import type { Region } from '../lines/regions.ts';
import type { Versions } from '../tree.ts';

/** For each line, where the line is that begins its declaration, and its class member; -1 without one. */
type Owners = { readonly tops: Int32Array; readonly members: Int32Array };

const OTHER = { ours: 'theirs', theirs: 'ours' } as const;
/** The first letter of a line that may begin a declaration. */
const HEAD = /^[\w$@#["'\x80-\uffff]/;

/**
 * Tells whether an edit of one side may be in another declaration than before in the other side. Decides by
 * lines: by the nearest line above that is not indented, in a class by the nearest one of its members.
 *
 * Spares most merges the parser. Answers yes where such a line is not the only one of its kind.
 */
export function mayBeMisplaced(
  regions: readonly Region[],
  texts: Interned,
  lines: Versions<readonly string[]>,
): boolean {
  const kinds = new Set(regions.map(({ kind }) => kind));
  if (!kinds.has('ours') && !kinds.has('theirs')) return false;
  if (kinds.size - Number(kinds.has('all')) < 2) return false;
  const owners = mapVersions(lines, ownersOf);
  const counts = mapVersions(NAMES, (name) => {
    const count = new Int32Array(texts.size);
    for (const line of texts[name]) count[line] = at(count, line) + 1;
    return count;
  });
  const isSame = (name: 'ours' | 'theirs', here: number, there: number) => {
    const isSameHead = (one: number, other: number, isOnly: boolean) => {
      if (one < 0 || other < 0) return one === other;
      const line = at(texts.base, one);
      if (line !== at(texts[name], other)) return false;
      return isOnly || (counts.base[line] === 1 && counts[name][line] === 1);
    };
    const [top, otherTop] = [at(owners.base.tops, here), at(owners[name].tops, there)];
    const isImport = lines.base[top]?.startsWith('import') === true;
    if (!isSameHead(top, otherTop, isImport)) return false;
    return isSameHead(at(owners.base.members, here), at(owners[name].members, there), false);
  };
  return regions.some(({ kind, base, ...sides }) => {
    if (kind !== 'ours' && kind !== 'theirs') return false;
    const there = sides[OTHER[kind]].start;
    // Inserted lines belong to the line above them.
    const above = base.start === base.end ? 1 : 0;
    if (base.start < above || there < above) return false;
    return !isSame(OTHER[kind], base.start - above, there - above);
  });
}

function ownersOf(lines: readonly string[]): Owners {
  const tops = new Int32Array(lines.length).fill(-1);
  const members = new Int32Array(lines.length).fill(-1);
  let [top, member, depth] = [-1, -1, 0];
  for (const [index, line] of lines.entries()) {
    const indent = indentOf(line);
    if (HEAD.test(indent === 0 ? line : line.slice(indent, indent + 1))) {
      if (indent === 0) [top, member, depth] = [index, -1, 0];
      // Inside anything but a class, members are not looked at.
      else if (depth === 0) depth = top >= 0 && /\bclass\b/.test(lines[top] ?? '') ? indent : -1;
      if (indent > 0 && indent === depth) member = index;
    }
    tops[index] = top;
    members[index] = member;
  }
  return { tops, members };
}

function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  return indent;
}

import type { Range } from '../lines/regions.ts';
import type { FindParts } from '../syntax/whole-parts.ts';

/** Times that a part is looked for further in, so that no input is slow. */
const MAX_DEPTH = 24;

/**
 * Makes a finder of parts of a stretch of YAML that are whole entries of one map or list, with all that is in them, told by
 * indentation: what stays has all maps and lists around it. Where a text in quotes or brackets hides such, there
 * is a part that leaves a text that cannot be read.
 */
export function yamlParts(lines: readonly string[]): FindParts {
  return (stretch) => partsIn(lines, stretch);
}

function partsIn(lines: readonly string[], { start, end }: Range): readonly Range[] {
  const parts: Range[] = [];
  const after = nextDepth(lines, end);
  let from = start;
  for (let inwards = 0; from < end && inwards < MAX_DEPTH; ) {
    const depth = depthOf(lines[from] ?? '');
    if (depth === null) {
      from++;
      continue;
    }
    let to = from + 1;
    let sibling = from;
    for (; to < end; to++) {
      const own: number = depthOf(lines[to] ?? '') ?? depth + 1;
      if (own < depth) break;
      if (own === depth) sibling = to;
    }
    // The last one may go on below the stretch.
    const border = to < end || after <= depth ? to : sibling;
    if (border > from) parts.push({ start: from, end: border });
    else inwards++;
    from = Math.max(border, from + 1);
  }
  return parts;
}

function nextDepth(lines: readonly string[], place: number): number {
  for (let index = place; index < lines.length; index++) {
    const depth = depthOf(lines[index] ?? '');
    if (depth !== null) return depth;
  }
  return 0;
}

/** Returns how far in a line is; null where it says nothing. A list may be as far in as the key that it is of. */
function depthOf(line: string): number | null {
  let indent = 0;
  while (line[indent] === ' ') indent++;
  const rest = line.slice(indent, indent + 2).trim();
  if (rest === '' || rest.startsWith('#')) return null;
  return indent * 2 + (rest === '-' ? 1 : 0);
}

import type { MatrixCell, MatrixData } from '../../commands.ts';

/** All outcomes of a combination, the best first. */
export const OUTCOMES = [
  'clean',
  'resolved',
  'excluded',
  'conflict',
  'failing',
  'refused',
] as const;

/** The meeting of two skills: their cell, else `apart`, or `unknown` where one of them was refused. */
export type Meeting = MatrixCell | 'apart' | 'unknown';

/** Returns the meeting of two skills, or of one with itself: the skill alone. */
export function meetings(data: MatrixData): (one: string, other: string) => Meeting {
  const cells = new Map(data.cells.map((cell) => [cell.skills.join('\n'), cell]));
  return (one, other) => {
    const cell = cells.get([...new Set([one, other])].sort().join('\n'));
    if (cell) return cell;
    // A refused package was not read, so its overlap with others is unknown.
    const isRefused = [one, other].some((name) => cells.get(name)?.outcome === 'refused');
    return isRefused ? 'unknown' : 'apart';
  };
}

/** Counts the pairs that have nothing in common. */
export function countApart(data: MatrixData): number {
  const meet = meetings(data);
  return data.skills
    .flatMap((one, at) => data.skills.slice(at + 1).map((other) => meet(one, other)))
    .filter((meeting) => meeting === 'apart').length;
}

/** Returns the headline: the number of skills, and the core that they were composed on. */
export function headline({ skills, core, proved }: MatrixData): string {
  const count = skills.length === 1 ? '1 skill' : `${skills.length} skills`;
  const commit = core.commit === null ? core.from : `${core.from} ${core.commit.slice(0, 7)}`;
  const how = proved ? '' : ', composed only';
  return `${count} on core ${core.version ?? 'without a version'} (${commit})${how}`;
}

/** Returns a name in so many characters; its end gives way. */
export function shortName(name: string, width: number): string {
  return name.length <= width ? name : `${name.slice(0, width - 1)}…`;
}

import type { CellOutcome, MatrixCell, MatrixData } from './input.ts';

const MARKS: Readonly<Record<CellOutcome, string>> = {
  clean: '✓',
  resolved: '≈',
  excluded: '–',
  conflict: '✗',
  failing: '!',
  refused: '?',
};
const APART = '·';
const NAME_WIDTH = 24;

/** All outcomes of a combination, the best first. */
const OUTCOMES = ['clean', 'resolved', 'excluded', 'conflict', 'failing', 'refused'] as const;

/** Returns a triangular table of all pairs, with single skills on its edge, and then remarks on the cells. */
export function matrixLines(data: MatrixData): readonly string[] {
  if (data.skills.length === 0) return ['There is no skill under skills/.'];
  const triples = data.cells.filter(({ skills }) => skills.length === 3);
  const told = toldCells(data);
  return [
    headline(data),
    '',
    ...table(data),
    '',
    ...(triples.length > 0 ? ['Three at one place:', ...triples.map(tripleLine), ''] : []),
    legend(data),
    ...told.flatMap((cell) => ['', ...cellLines(cell)]),
  ];
}

function table(data: MatrixData): readonly string[] {
  const meet = meetings(data);
  const digits = String(data.skills.length).length;
  const names = data.skills.map((name) => shortName(name, NAME_WIDTH));
  const width = Math.max(...names.map((name) => name.length));
  const head = data.skills.map((_, at) => String(at + 1).padStart(digits + 2)).join('');
  const rows = data.skills.map((skill, row) => {
    const marks = data.skills.slice(0, row + 1).map((other) => {
      const meeting = meet(skill, other);
      if (meeting === 'unknown') return ' '.repeat(digits + 2);
      return (meeting === 'apart' ? APART : MARKS[meeting.outcome]).padStart(digits + 2);
    });
    const number = String(row + 1).padStart(digits);
    return `${number} ${(names[row] ?? '').padEnd(width)}${marks.join('')}`;
  });
  return [`${' '.repeat(digits + 1 + width)}${head}`, ...rows];
}

function tripleLine({ skills, outcome, shares }: MatrixCell): string {
  return `${MARKS[outcome]} ${skills.join(' + ')}  (${shares.join(', ')})`;
}

function legend(data: MatrixData): string {
  const { summary } = data;
  const used = OUTCOMES.filter((outcome) => summary[outcome] > 0);
  const words = used.map((outcome) => `${MARKS[outcome]} ${summary[outcome]} ${outcome}`);
  const apart = countApart(data);
  return [...words, ...(apart > 0 ? [`${APART} ${apart} with nothing in common`] : [])].join('   ');
}

/**
 * Returns the cells worth telling: those neither clean nor excluded. A pair that fails just as one of its
 * skills does alone is left out.
 */
function toldCells(data: MatrixData): readonly MatrixCell[] {
  const alone = new Map(data.cells.map((cell) => [cell.skills.join('\n'), cell]));
  return data.cells.filter(({ skills, outcome, failures }) => {
    if (outcome === 'clean' || outcome === 'excluded') return false;
    if (outcome !== 'failing' || skills.length === 1) return true;
    const known = skills.flatMap((skill) => alone.get(skill)?.failures ?? []);
    const isKnown = ({ kind, name }: MatrixCell['failures'][number]) =>
      known.some((one) => one.kind === kind && one.name === name);
    return !failures.every(isKnown);
  });
}

function cellLines(cell: MatrixCell): readonly string[] {
  const { skills, outcome, conflicts, resolutions, failures, refusal } = cell;
  return [
    `${MARKS[outcome]} ${skills.join(' + ')}: ${outcome}`,
    ...conflicts.flatMap(({ path, kind, layers, reason }) => [
      `  ${path}  ${kind}, ${layers.join(' against ')}`,
      `    ${reason}`,
    ]),
    ...(resolutions.length > 0 ? [`  resolved by ${resolutions.join(', ')}`] : []),
    ...failures.flatMap(({ kind, name, text }) => [
      `  ${kind === 'test' ? `tests of ${name}` : name}`,
      ...text.split('\n').map((line) => `    ${line}`),
    ]),
    ...(refusal ? [`  ${refusal.code}: ${refusal.message}`] : []),
  ];
}

/** The meeting of two skills: their cell, else `apart`, or `unknown` where one of them was refused. */
type Meeting = MatrixCell | 'apart' | 'unknown';

/** Returns the meeting of two skills, or of one with itself: the skill alone. */
function meetings(data: MatrixData): (one: string, other: string) => Meeting {
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
function countApart(data: MatrixData): number {
  const meet = meetings(data);
  return data.skills
    .flatMap((one, at) => data.skills.slice(at + 1).map((other) => meet(one, other)))
    .filter((meeting) => meeting === 'apart').length;
}

/** Returns the headline: the number of skills, and the core that they were composed on. */
function headline({ skills, core, proved }: MatrixData): string {
  const count = skills.length === 1 ? '1 skill' : `${skills.length} skills`;
  const commit = core.commit === null ? core.from : `${core.from} ${core.commit.slice(0, 7)}`;
  const how = proved ? '' : ', composed only';
  return `${count} on core ${core.version ?? 'without a version'} (${commit})${how}`;
}

/** Returns a name in so many characters; its end gives way. */
function shortName(name: string, width: number): string {
  return name.length <= width ? name : `${name.slice(0, width - 1)}…`;
}

import type { CellOutcome, MatrixCell, MatrixData } from '../../commands.ts';
import { countApart, headline, meetings, OUTCOMES, shortName } from './matrix-view.ts';

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

/** Returns a triangular table of all pairs, skills alone on its edge; then what is to be said of cells. */
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

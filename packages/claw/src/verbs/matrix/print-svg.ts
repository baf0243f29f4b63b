import type { CellOutcome, MatrixCell, MatrixData } from './input.ts';
import { countApart, headline, type Meeting, meetings, OUTCOMES, shortName } from './print.ts';

const CELL = 28;
const GAP = 4;
const STEP = CELL + GAP;
const EDGE = 24;
const TOP = 64;
const NAME_WIDTH = 26;
const CHAR = 7.4;
const ROW = 22;
/** Icons beside a line of text. */
const SMALL = 0.65;

// Shapes, not letters: they look the same whatever fonts there are, and tell outcomes apart without colour.
const SHAPES: Readonly<Record<CellOutcome, string>> = {
  clean: 'M8 14.5l4.5 4.5L20.5 10',
  resolved: 'M8 11.5c4-4 8 4 12 0M8 17.5c4-4 8 4 12 0',
  excluded: 'M8 14h12',
  conflict: 'M9 9l10 10M19 9L9 19',
  failing: 'M14 7v9M14 20v.5',
  refused: 'M10.5 11a3.5 3.5 0 1 1 5 3c-1 .6-1.5 1.2-1.5 2.5M14 20v.5',
};
const WORDS: Readonly<Record<CellOutcome, string>> = {
  clean: 'clean',
  resolved: 'resolved by recordings',
  excluded: 'exclude each other',
  conflict: 'conflict',
  failing: 'checks or tests fail',
  refused: 'refused',
};

const APART = 'nothing in common';
/** In the order of the legend. */

const STYLE = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
  .head { font-size: 15px; font-weight: 600 } .dim { fill: #57606a } .number { text-anchor: middle }
  .ground { fill: #ffffff } .none { fill: #eaeef2 }
  .mark { fill: none; stroke: #ffffff; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round }
  .clean { fill: #1a7f37 } .resolved { fill: #0969da } .excluded { fill: #6e7781 }
  .conflict { fill: #cf222e } .failing { fill: #bc4c00 } .refused { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .dim { fill: #8d96a0 } .ground { fill: #0d1117 } .none { fill: #21262d }
    .clean { fill: #238636 } .resolved { fill: #1f6feb } .conflict { fill: #da3633 }
    .failing { fill: #bd561d } .refused { fill: #8957e5 }
  }`;

/** Returns the matrix as one SVG that needs nothing else: a triangular grid, triples, a legend. */
export function renderSvg(data: MatrixData): string {
  const { skills } = data;
  const left = EDGE + Math.max(0, ...skills.map((name) => nameOf(name).length)) * CHAR + 28;
  const under = TOP + skills.length * STEP + 44;
  const lines = linesOf(data);
  const texts = [...lines.map(({ text }) => text), headline(data)];
  const widest = Math.max(...texts.map((text) => text.length)) * CHAR + 28 + 2 * EDGE;
  const width = Math.ceil(Math.max(left + skills.length * STEP + EDGE, widest));
  const height = under + lines.length * ROW + EDGE - ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(headline(data))}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    label(EDGE, 36, headline(data), 'head'),
    ...grid(data, left),
    ...lines.flatMap((line, at) => drawLine(line, under + at * ROW)),
    '</svg>',
    '',
  ].join('\n');
}

type Line = { readonly icon: CellOutcome | 'apart' | null; readonly text: string };

/** Returns the lines below the grid: the triples, then the legend of the marks. */
function linesOf(data: MatrixData): readonly Line[] {
  const triples = data.cells.filter(({ skills }) => skills.length === 3);
  const used = OUTCOMES.filter((outcome) => data.summary[outcome] > 0);
  const apart = countApart(data);
  const gap = { icon: null, text: '' };
  return [
    ...(triples.length > 0 ? [{ icon: null, text: 'Three at one place' }] : []),
    ...triples.map((cell) => ({ icon: cell.outcome, text: tripleText(cell) })),
    ...(triples.length > 0 ? [gap] : []),
    ...used.map((outcome) => ({
      icon: outcome,
      text: `${data.summary[outcome]} ${WORDS[outcome]}`,
    })),
    ...(apart > 0 ? [{ icon: 'apart' as const, text: `${apart} ${APART}` }] : []),
  ];
}

function drawLine({ icon, text }: Line, y: number): readonly string[] {
  if (icon === null) return text === '' ? [] : [label(EDGE, y, text, 'dim')];
  const [x, top] = [EDGE, y - 14];
  const shape = icon === 'apart' ? emptyBox(x, top, SMALL) : mark(icon, x, top, SMALL);
  return [shape, label(EDGE + 28, y, text)];
}

function grid(data: MatrixData, left: number): readonly string[] {
  const meet = meetings(data);
  const foot = TOP + data.skills.length * STEP + 12;
  return data.skills.flatMap((skill, row) => {
    const y = TOP + row * STEP;
    const boxes = data.skills.slice(0, row + 1).map((other, column) => {
      const names = [...new Set([other, skill])].join(' + ');
      return cellBox(meet(skill, other), left + column * STEP, y, names);
    });
    const number = label(left + row * STEP + CELL / 2, foot, `${row + 1}`, 'dim number');
    return [label(EDGE, y + 19, nameOf(`${row + 1}  ${skill}`)), ...boxes, number];
  });
}

function cellBox(meeting: Meeting, x: number, y: number, names: string): string {
  if (meeting === 'unknown') return '';
  const isApart = meeting === 'apart';
  const title = `${names}: ${isApart ? APART : detail(meeting)}`;
  const box = isApart ? emptyBox(x, y, 1) : mark(meeting.outcome, x, y, 1);
  return `<g><title>${escapeXml(title)}</title>${box}</g>`;
}

function detail({ outcome, shares, conflicts, failures, refusal }: MatrixCell): string {
  const facts = [
    ...conflicts.map(({ path }) => path),
    ...failures.map(({ name }) => name),
    ...(refusal ? [refusal.code] : []),
  ];
  const common = shares.length > 0 ? ` (in common: ${shares.join(', ')})` : '';
  return `${WORDS[outcome]}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}${common}`;
}

function mark(outcome: CellOutcome, x: number, y: number, scale: number): string {
  return (
    `<g transform="translate(${x} ${y}) scale(${scale})"><rect class="${outcome}" width="${CELL}" height="${CELL}" rx="5"/>` +
    `<path class="mark" d="${SHAPES[outcome]}"/></g>`
  );
}

function emptyBox(x: number, y: number, scale: number): string {
  const size = CELL * scale;
  return `<rect class="none" x="${x}" y="${y}" width="${size}" height="${size}" rx="${5 * scale}"/>`;
}

function tripleText({ skills, shares }: MatrixCell): string {
  return shortName(`${skills.join(' + ')}  (${shares.join(', ')})`, 100);
}

function nameOf(name: string): string {
  return shortName(name, NAME_WIDTH);
}

function label(x: number, y: number, text: string, kind = ''): string {
  const className = kind === '' ? '' : ` class="${kind}"`;
  return `<text${className} x="${x}" y="${y}">${escapeXml(text)}</text>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

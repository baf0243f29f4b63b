import { widthOf } from './width.ts';

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Breaks lines at spaces where they would run over the edge, by display width; a word that is longer
 * than a line is broken where it must be. A style that is open at a break is closed and opened again,
 * so that whatever is put before the next line keeps its own.
 *
 * @param columns Infinity leaves lines as long as they are
 */
export function wrap(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text;
  const width = Math.max(columns, 1);
  return closeAtEnds(text.split('\n').flatMap((line) => wrapLine(line, width)));
}

function wrapLine(line: string, width: number): readonly string[] {
  if (widthOf(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  for (const [, space = '', word = ''] of line.trimEnd().matchAll(/(\s*)(\S+)/g)) {
    if (current !== '' && widthOf(current + space + word) > width) {
      lines.push(current);
      current = '';
    }
    const isFirst = current === '';
    // A beginning is indentation and is kept; the space at a break has done its work.
    const piece = isFirst && lines.length > 0 ? word : space + word;
    const parts = cutWord(current + piece, width);
    lines.push(...parts.slice(0, -1));
    current = parts.at(-1) ?? '';
  }
  return [...lines, current];
}

function cutWord(word: string, width: number): readonly string[] {
  if (widthOf(word) <= width) return [word];
  const parts = [''];
  let used = 0;
  for (const piece of word.split(/(\u001b\[[\d;]*m)/)) {
    for (const unit of piece.startsWith('\u001b')
      ? [piece]
      : [...SEGMENTER.segment(piece)].map(({ segment }) => segment)) {
      const unitWidth = widthOf(unit);
      if (used > 0 && used + unitWidth > width) {
        parts.push('');
        used = 0;
      }
      parts[parts.length - 1] += unit;
      used += unitWidth;
    }
  }
  return parts;
}

const CLOSERS: Readonly<Record<number, number>> = {
  1: 22,
  2: 22,
  3: 23,
  4: 24,
  9: 29,
  36: 39,
};

function closeAtEnds(lines: readonly string[]): string {
  let open: readonly number[] = [];
  const closed = lines.map((line) => {
    const before = open.map((code) => `\u001b[${code}m`).join('');
    for (const [, code] of line.matchAll(/\u001b\[(\d+)m/g)) open = afterCode(open, Number(code));
    const after = open.toReversed().map((code) => `\u001b[${CLOSERS[code]}m`);
    return before + line + after.join('');
  });
  return closed.join('\n');
}

function afterCode(open: readonly number[], code: number): readonly number[] {
  if (CLOSERS[code] !== undefined) return [...open, code];
  return open.filter((candidate) => CLOSERS[candidate] !== code);
}

import type { ImportStatement } from './statements.ts';

/** A longer line is laid out over more lines, unless those of the sides are as long. */
const MAX_LENGTH = 80;

/** Writes an import in the layout of the sides: on one line where one of them has it so and there is room. */
export function writeImport(
  { whole, names, head, tail }: ImportStatement,
  sides: readonly ImportStatement[],
): readonly string[] {
  if (names === null) return [`${head}${whole}${tail}`];
  const before = whole === '' ? '' : `${whole}, `;
  const isTight = sides.some(({ lines }) => /\{\S/.test(lines[0] ?? ''));
  const list = [...names.values()].join(', ');
  const line = `${head}${before}{${isTight ? list : ` ${list} `}}${tail}`;
  const wide = sides.find(({ lines }) => lines.length > 1);
  const longest = Math.max(
    MAX_LENGTH,
    ...sides.map(({ lines }) => (lines.length > 1 ? 0 : (lines[0]?.length ?? 0))),
  );
  const isOneLine = sides.some(({ lines }) => lines.length === 1);
  if (isOneLine && line.length <= longest) return [line];
  const inner = wide?.lines[1] ?? '  ';
  const indent = /^[ \t]*/.exec(inner)?.[0] ?? '  ';
  const isClosed = wide === undefined || /,\s*$/.test(wide.lines.at(-2) ?? '');
  const said = [...names.values()];
  return [
    `${head}${before}{`,
    ...said.map(
      (name, index) => `${indent}${name}${index < said.length - 1 || isClosed ? ',' : ''}`,
    ),
    `}${tail}`,
  ];
}

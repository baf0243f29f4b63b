/** The head of a section, which what stands below it belongs to although it is indented no further. */
const SECTION =
  /^[ \t]*(?:\[[^\]]*\]+[ \t]*$|#{2,6}[ \t]|#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b|([-=~^])\1{2,}[ \t]*$)/;

/**
 * Tells whether lines stand in one block with what is above some lines between, in any language: where none of those is
 * indented less, as the head and the end of another block are, or is the head of a section.
 *
 * Sections may follow each other where the lines are such themselves.
 */
export function isInSameBlock(between: readonly string[], lines: readonly string[]): boolean {
  const said = lines.filter((line) => line.trim() !== '');
  const least = said.reduce((indent, line) => Math.min(indent, indentOf(line)), Infinity);
  const isSection = SECTION.test(said[0] ?? '');
  return between.every(
    (line) => line.trim() === '' || (indentOf(line) >= least && (isSection || !SECTION.test(line))),
  );
}

/** Counts the spaces and tabs at the head of a line. */
function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  return indent;
}

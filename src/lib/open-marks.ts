/**
 * Closes the marks that a text has opened in its last paragraph, so that bold words do not show as stars until they
 * end.
 */
export function closeOpenMarks(text: string): string {
  // The beginning of the fence's end is no code.
  if (isInFence(text)) return text.replace(/\n {0,3}[`~]{1,2}$/, '');
  const start = text.lastIndexOf('\n\n') + 1;
  // Marks after a space begin something of which there is nothing yet.
  const last = text.slice(start).replace(/(^|\s)[*_`~]+$/, '$1');
  const open = openMark(last);
  // A run of marks is looked at from its beginning alone: from each of them, a long one would take its square.
  const words = open === '' ? last : last.replace(/(?<![*_`~])[*_`~]+$/, '');
  const whole = (text.slice(0, start) + words).trimEnd();
  return whole === '' ? '' : whole + open;
}

/** Tells whether a text ends within a block of code that has a fence. */
export function isInFence(text: string): boolean {
  return (text.match(/^ {0,3}(```|~~~)/gm)?.length ?? 0) % 2 === 1;
}

function openMark(paragraph: string): string {
  const plain = paragraph.replace(/\\./g, '').replace(/`[^`]*`/g, '');
  if (plain.includes('`')) return '`';
  return (plain.match(/\*\*/g)?.length ?? 0) % 2 === 1 ? '**' : '';
}

/** The file that says what to look at, in a group's folder. */
export const HEARTBEAT_FILE = 'HEARTBEAT.md';

/** Tells whether a text asks for nothing: it is only headings, empty list items, comments and white space. */
export function isEmptyOfWork(text: string): boolean {
  return text
    .replace(/<!--[\s\S]*?(-->|$)/g, '')
    .split(/\r\n|\r|\n/)
    .every((line) => /^(#.*|[-*+](\s*\[[ xX]?\])?)?$/.test(line.replace('\uFEFF', '').trim()));
}

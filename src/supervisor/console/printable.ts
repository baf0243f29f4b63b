/**
 * Takes control characters out, line ends and tabs apart. What goes to the terminal was written by
 * a model or by strangers: an escape sequence in it could rewrite the screen or type for the owner.
 */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

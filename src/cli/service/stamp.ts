import { createHash } from 'node:crypto';

const NOTE = 'Made by claw service install. Change it as you like: then it is kept.';

/**
 * Returns the text with a digest of itself in a comment, so that edits by the owner are noticed.
 *
 * @param comment how a comment begins in that kind of file
 */
export function stamped(text: string, comment: '#' | '<!--'): string {
  const end = comment === '#' ? '' : ' -->';
  return `${text}${comment} ${NOTE} ${digestOf(text)}${end}\n`;
}

/** Tells whether a file is as this or another version of claw wrote it. */
export function isUntouched(file: string): boolean {
  const at = file.trimEnd().lastIndexOf('\n') + 1;
  const digest = /sha256:[0-9a-f]{64}/.exec(file.slice(at))?.[0];
  return digest === digestOf(file.slice(0, at));
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

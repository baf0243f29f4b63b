import type { Node } from 'unbash';

/** Shells. */
export const SHELL = /^(?:sh|bash|dash|ash|zsh|ksh|mksh|fish)$/;
/** Programs that write what a site sends. */
export const DOWNLOAD = /^(?:curl|wget|fetch|lynx|aria2c)$/;
/** Programs that make another text of what they read. */
const UNPACK = /^(?:base64|base32|xxd|openssl|gunzip|zcat|gzip|xz|uudecode|rev|tr|gpg)$/;
/** Programs that run a language of their own. */
export const INTERPRETER = /^(python|perl|ruby|node|nodejs|php|lua|awk|gawk|mawk|deno|bun)[\d.]*$/;
/** Options with a program as their word. */
export const CODE_OPTION = /^(?:-[ceEpr]|--eval|--print|--command|eval)$/;
/** Words of the shell that set variables. */
export const DECLARES = /^(?:export|declare|typeset|local|readonly)$/;
/** Words of the shell that set variables to what they read. */
export const READS = /^(?:read|mapfile|readarray|getopts)$/;

/** The way a program comes to what it writes; one that only shows a file writes that file. */
export type Origin = 'download' | 'unpacked' | 'file' | 'other';

export function originOf(program: string | null): Origin {
  if (program === null) return 'other';
  if (DOWNLOAD.test(program)) return 'download';
  if (UNPACK.test(program)) return 'unpacked';
  return /^(?:cat|head|tail|sed)$/.test(program) ? 'file' : 'other';
}

/** Tells whether a function calls itself twice over, or beside itself. */
export function isBomb(name: string, body: Node): boolean {
  const text = JSON.stringify(body, (key, value: unknown) =>
    key === 'pos' || key === 'end' ? undefined : value,
  );
  const calls = text.split(`"type":"Command","name":{"text":${JSON.stringify(name)}`).length - 1;
  return calls >= 2 || (calls === 1 && text.includes('"background":true'));
}

/** Returns a path as it is compared: `./x` is `x`. */
export function plainPath(path: string): string {
  return path.replace(/^(?:\.\/)+/, '');
}

/** The parser looks at the rest of a word for each brace in it: more of that takes a tenth of a second. */
const MOST_BRACE_STEPS = 50_000_000;

/** Tells whether a text has a word with more braces than are read at once. */
export function hasManyBraces(text: string): boolean {
  return text
    .split(/[\s;|&]/)
    .some((word) => word.length * (word.split('{').length - 1) > MOST_BRACE_STEPS);
}

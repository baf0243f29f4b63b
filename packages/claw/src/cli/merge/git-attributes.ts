import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile } from '@patchclaw/merge/git';
import { ClawError } from '../../verbs.ts';

const BEGIN = '# claw merge driver: begin (claw merge-driver uninstall takes this out)';
const END = '# claw merge driver: end';
const BLOCK = new RegExp(`${escaped(BEGIN)}\r?\n[\\s\\S]*?${escaped(END)}\r?\n`, 'g');

/**
 * Puts patterns at the head of a file of git's attributes, so that every line of the owner takes precedence. Patterns
 * added before stay.
 */
export function addPatterns(path: string, patterns: readonly string[]): void {
  const before = readText(path);
  const all = [...new Set([...patternsIn(path), ...patterns])];
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const lines = [BEGIN, ...all.map((pattern) => `${quoted(pattern)} merge=claw`), END];
  write(path, lines.map((line) => line + end).join('') + before.replace(BLOCK, ''));
}

/**
 * Removes these patterns; every other byte stays.
 *
 * @returns false where there were none
 */
export function removePatterns(path: string): boolean {
  const before = readText(path);
  const after = before.replace(BLOCK, '');
  if (after === before) return false;
  if (after === '') rmSync(path);
  else write(path, after);
  return true;
}

/** Lists the patterns that were added to a file of attributes. */
export function patternsIn(path: string): readonly string[] {
  const blocks = readText(path).match(BLOCK) ?? [];
  return blocks.flatMap((block) =>
    [...block.matchAll(/^(.+) merge=claw\r?$/gm)].map(([, pattern = '']) => unquoted(pattern)),
  );
}

function readText(path: string): string {
  // By bytes: names in such a file may be of any encoding.
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

/** @throws ClawError LINK_REFUSED: the repository may be a stranger's, whose link leads to a file of the owner's */
function write(path: string, text: string): void {
  for (const place of [path, dirname(path)]) {
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
      const message = `${place} is a symbolic link, and claw would write where it leads. Put the real file in its place.`;
      throw new ClawError('LINK_REFUSED', message, { path: place });
    }
  }
  const bytes = Buffer.from(text, 'latin1');
  if (existsSync(path)) {
    replaceFile(path, bytes);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** Quotes a pattern as git reads it: one with a space, or that could pass for a comment or a macro. */
function quoted(pattern: string): string {
  const bytes = Buffer.from(pattern, 'utf8').toString('latin1');
  return /[\s"]|^[#[]/.test(bytes) ? `"${bytes.replace(/["\\]/g, '\\$&')}"` : bytes;
}

function unquoted(word: string): string {
  const inner = word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word;
  return Buffer.from(inner, 'latin1').toString('utf8');
}

function escaped(text: string): string {
  return text.replace(/[()]/g, '\\$&');
}

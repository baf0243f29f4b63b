import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * Reads the names and values in a project's `.env`; none where there is no such file.
 *
 * @throws the file system's error where it is there and cannot be read
 */
export function readEnvFile(projectDir: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(textOf(projectDir));
}

/** Returns the line of a project's `.env` that sets a name, counted from 1; null for none. */
export function lineInEnvFile(projectDir: string, name: string): number | null {
  const lines = textOf(projectDir).split('\n');
  const at = lines.findLastIndex((line) => /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] === name);
  return at === -1 ? null : at + 1;
}

/**
 * Finds lines of a project's `.env` that set nothing: without `NAME=`, or with a quote that is never
 * closed. Blank lines and comments are none.
 *
 * @returns a sentence for each, with its line
 */
export function brokenEnvLines(projectDir: string): readonly string[] {
  const lines = textOf(projectDir).split('\n');
  const problems: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.includes('\ufffd'))
      problems.push(`Line ${at + 1} of .env is no UTF-8: save it as that.`);
    const value = SETTING.exec(line)?.[1];
    if (value === undefined)
      problems.push(`Line ${at + 1} of .env is not a setting: write NAME=value.`);
    const quote = QUOTED.exec(value ?? '')?.[0];
    if (quote === undefined || value?.indexOf(quote, 1) !== -1) continue;
    const end = lines.findIndex((later, index) => index > at && later.includes(quote));
    if (end === -1) problems.push(`Line ${at + 1} of .env has a quote that is never closed.`);
    else at = end;
  }
  return problems;
}

/**
 * Finds values of a project's `.env` that are cut at a `#`: without quotes, the rest of the line is a comment even if no
 * blank stands before it. Passwords often have one.
 *
 * @returns a sentence for each, with its line and name, never the value
 */
export function cutEnvValues(projectDir: string): readonly string[] {
  let open: string | null = null;
  return textOf(projectDir)
    .split('\n')
    .flatMap((line, at) => {
      if (open !== null) {
        if (line.includes(open)) open = null;
        return [];
      }
      const [, name = '', value = ''] = NAMED.exec(line.trim()) ?? [];
      const quote = QUOTED.exec(value)?.[0];
      if (quote !== undefined) {
        if (value.indexOf(quote, 1) === -1) open = quote;
        return [];
      }
      // With a blank before it, it is meant as a comment.
      if (!/\S#/.test(value.split(/\s#/)[0] ?? '')) return [];
      return [
        `Line ${at + 1} of .env: ${name} ends before its "#". If "#" belongs to the value, put the value in quotes: ${name}="…".`,
      ];
    });
}

const NAMED = /^(?:export\s+)?([\w.-]+)\s*=\s*(.*)$/;
const SETTING = /^(?:export\s+)?[\w.-]+\s*=\s*(.*)$/;
const QUOTED = /^["'`]/;

function textOf(projectDir: string): string {
  try {
    // Some editors put a byte-order mark in front, which would be part of the first name.
    return readFileSync(join(projectDir, '.env'), 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

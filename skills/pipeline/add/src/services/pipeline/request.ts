import type { WorkRequest } from './stage.ts';

/*
 * A line ends at \n alone: with `^` it would begin at other signs too, and a text of these would be read from each.
 */

/** The host's line of a file, `[photo "tree", 12 kB, id 7]`: its kind, and the rest, which has to hold the id. */
const FILE = /(?<![^\n])[ \t]*\[([\w-]+)(?: "[^"\n]*")?(, [^\]\n]+)\](?![^\n])/g;
const ID = /, id ./;
/** A message of a conversation; its further lines are indented. */
const SAID = /(?<![^\n])\[[^\]\n]+\] [^:\n]*: /g;

/** Reads a prompt of the host's: of a conversation the last message counts, of a task its words. */
export function requestOf(
  prompt: string,
  { isTask, hasPictures }: Pick<WorkRequest, 'isTask' | 'hasPictures'>,
  toolsBefore: readonly string[],
): WorkRequest {
  const asked = isTask ? afterLast(prompt, /^The task:\n/gm) : afterLast(prompt, SAID);
  const files: string[] = [];
  const text = asked.replace(FILE, (line: string, kind: string, rest: string) => {
    if (!ID.test(rest)) return line;
    files.push(kind);
    return '';
  });
  return { text: text.trim(), files, hasPictures, isTask, toolsBefore };
}

function afterLast(text: string, mark: RegExp): string {
  const last = [...text.matchAll(mark)].at(-1);
  return last === undefined ? text : text.slice(last.index + last[0].length);
}

import type { WorkRequest } from './stage.ts';

/** The host's line of a file: `[photo "tree", 12 kB, id 7]`. */
const FILE = /^[ \t]*\[([\w-]+)(?: "[^"\n]*")?(?:, [^\]\n]*)?, id [^\]\n]+\]$/gm;
/** A message of a conversation; its further lines are indented. */
const SAID = /^\[[^\]\n]+\] [^:\n]*: /gm;

/** Reads a prompt of the host's: of a conversation the last message counts, of a task its words. */
export function requestOf(
  prompt: string,
  { isTask, hasPictures }: Pick<WorkRequest, 'isTask' | 'hasPictures'>,
  toolsBefore: readonly string[],
): WorkRequest {
  const asked = isTask ? afterLast(prompt, /^The task:\n/gm) : afterLast(prompt, SAID);
  const files = [...asked.matchAll(FILE)].map(([, kind = '']) => kind);
  const text = asked.replace(FILE, '').trim();
  return { text, files, hasPictures, isTask, toolsBefore };
}

function afterLast(text: string, mark: RegExp): string {
  const last = [...text.matchAll(mark)].at(-1);
  return last === undefined ? text : text.slice(last.index + last[0].length);
}

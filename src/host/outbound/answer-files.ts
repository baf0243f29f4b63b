import { basename } from 'node:path/posix';
import type { HeldFiles, OutgoingFiles } from './outgoing-files.ts';

/** So many files go along with one answer. */
const MAX_FILES = 10;

/**
 * Code, which is left as it is, or a Markdown picture: its words, and its place without a title. None begins within
 * another, so that a text of beginnings takes no longer than its length.
 */
const CODE_OR_PICTURE =
  /```[\s\S]*?(?:```|$)|`[^`\n]*`|!\[((?:(?!!\[)[^\]\n]){0,1000})\]\(\s*(?:<((?:(?!!\[)[^>\n]){1,1000})>|([^\s()]{1,1000}))(?:\s+"[^"\n]*")?\s*\)/g;

/** An answer whose pictures are sent as files; null if it has none. */
export type AnswerWithFiles = { readonly text: string; readonly held: HeldFiles | null };

/**
 * Takes the files that an answer shows as Markdown pictures out of the group's folder, to be sent along. In the
 * text, a picture becomes its words in brackets; one that cannot be sent, the reason. Pictures elsewhere, such as
 * on the web, are left as they are: nothing fetches them.
 */
export async function answerWithFiles(
  outgoingFiles: Pick<OutgoingFiles, 'hold'>,
  folder: string,
  text: string,
): Promise<AnswerWithFiles> {
  const paths = [...new Set([...text.matchAll(CODE_OR_PICTURE)].flatMap(localPathIn))];
  if (paths.length === 0) return { text, held: null };
  const held: HeldFiles[] = [];
  const problems = new Map<string, string>();
  for (const path of paths) {
    if (held.length === MAX_FILES) {
      problems.set(path, `${path} is not sent: ${MAX_FILES} files go along with one answer.`);
      continue;
    }
    try {
      held.push(await outgoingFiles.hold(folder, [path]));
    } catch (error) {
      problems.set(path, error instanceof Error ? error.message : String(error));
    }
  }
  return { text: withPictureWords(text, problems), held: joined(held) };
}

/** Writes pictures that go along as their words in brackets, and one that does not as the problem with its path. */
export function withPictureWords(
  text: string,
  problems: ReadonlyMap<string, string> = new Map(),
): string {
  return text.replaceAll(CODE_OR_PICTURE, (...match) => {
    const found: readonly (string | undefined)[] = match.slice(0, 4);
    const [path] = localPathIn(found);
    const [whole = '', words = ''] = found;
    if (path === undefined) return whole;
    return `[${problems.get(path) ?? (words.trim() || basename(path))}]`;
  });
}

/** Returns the path of a picture in the group's folder; none for code, and for what is elsewhere. */
function localPathIn([, , inBrackets, plain]: readonly (string | undefined)[]): readonly string[] {
  const place = inBrackets ?? plain;
  if (place === undefined) return [];
  const path = place.replace(/^file:\/\//i, '');
  if (/^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('//') || path.startsWith('#')) return [];
  try {
    return [decodeURIComponent(path)];
  } catch {
    return [path]; // A name with a percent sign of its own.
  }
}

function joined(held: readonly HeldFiles[]): HeldFiles | null {
  if (held.length === 0) return null;
  return {
    files: held.flatMap(({ files }) => files),
    release() {
      for (const each of held) each.release();
    },
  };
}

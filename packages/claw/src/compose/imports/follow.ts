import { posix } from 'node:path';
import { languageOf, type TreeFile } from '@patchclaw/merge';
import { relativeSpecifiers } from './specifiers.ts';

/** A file's path at the time of its author, its present path, and the moves of other files. */
export type Places = {
  readonly from: string;
  readonly to: string;
  /** The present path of a file that the author knew. */
  readonly moved: (path: string) => string;
  /** True if there is such a file, by its present path. */
  readonly has: (path: string) => boolean;
};

/** A moved file that is imported by its new path. */
export type Followed = { readonly from: string; readonly to: string };

const RELATIVE = /(['"])(\.{1,2}(?:\/[^'"\n]*)?)\1/g;
const EXTENSIONS = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'json'];

/**
 * Rewrites the relative specifiers of a file of JavaScript or TypeScript that mean a file which a release
 * moved; all of them where the file itself moved to another folder. Nothing else of it changes, and a file
 * that cannot be parsed stays as it is.
 *
 * @returns the same object where there is nothing to rewrite
 */
export function followImports(
  file: TreeFile,
  places: Places,
): { readonly file: TreeFile; readonly followed: readonly Followed[] } {
  const nothing = { file, followed: [] };
  const language = languageOf(places.from);
  if (language === null || language === 'json') return nothing;
  const text = file.bytes.toString('latin1');
  // The parser is loaded only where a look at the quoted texts says that there is work for it.
  const isNeeded = [...text.matchAll(RELATIVE)].some(
    ([, , quoted = '']) => rewritten(quoted, places) !== null,
  );
  if (!isNeeded) return nothing;
  const followed: Followed[] = [];
  let written = '';
  let end = 0;
  for (const specifier of relativeSpecifiers(places.from, text)) {
    const found = rewritten(specifier.text, places);
    if (found === null) continue;
    written += text.slice(end, specifier.start) + found.text;
    end = specifier.end;
    if (found.from !== found.to) followed.push({ from: found.from, to: found.to });
  }
  if (end === 0) return nothing;
  const bytes = Buffer.from(written + text.slice(end), 'latin1');
  return { file: { ...file, bytes }, followed };
}

type Rewritten = Followed & { readonly text: string };

/** @param specifier read as latin1 */
function rewritten(specifier: string, { from, to, moved, has }: Places): Rewritten | null {
  const named = Buffer.from(specifier, 'latin1').toString('utf8');
  const [, path = '', query = ''] = /^([^?#]*)(.*)$/.exec(named) ?? [];
  const target = posix.join(posix.dirname(from), path).replace(/\/$/, '');
  if (target.startsWith('..')) return null;
  const meanings = meaningsOf(target);
  const isHere = posix.dirname(from) === posix.dirname(to);
  // Looking whether a file is there may read it.
  if (isHere && meanings.every(({ file }) => moved(file) === file)) return null;
  const meant =
    meanings.find(({ file }) => has(moved(file))) ??
    meanings.find(({ file }) => moved(file) !== file);
  if (meant === undefined) return null;
  const present = moved(meant.file);
  if (isHere && present === meant.file) return null;
  const relative = posix.relative(posix.dirname(to), meant.spelled(present));
  const spelled = /^\.\.?(?:\/|$)/.test(relative) ? relative : `./${relative}`;
  const text = Buffer.from(spelled + query).toString('latin1');
  return text === specifier ? null : { text, from: meant.file, to: present };
}

/** A file that a path may mean, and how the path is spelled once the file is elsewhere. */
type Meaning = { readonly file: string; readonly spelled: (present: string) => string };

/** Lists the files that a specifier may mean, in the order in which Node and compilers look. */
function meaningsOf(target: string): readonly Meaning[] {
  const own = /\.([cm]?jsx?)$/.exec(target)?.[1];
  const stem = own === undefined ? target : target.slice(0, -own.length - 1);
  const typed =
    own === undefined ? [] : [own.replace('js', 'ts'), ...(own === 'js' ? ['tsx'] : [])];
  const bare = (present: string) => present.replace(/\.[^./]+$/, '');
  return [
    { file: target, spelled: (present) => present },
    ...typed.map((extension) => ({
      file: `${stem}.${extension}`,
      spelled: (present: string) =>
        present.endsWith(`.${extension}`) ? `${bare(present)}.${own}` : present,
    })),
    ...EXTENSIONS.map((extension) => ({ file: `${target}.${extension}`, spelled: bare })),
    ...EXTENSIONS.map((extension) => ({
      file: `${target}/index.${extension}`,
      spelled: (present: string) =>
        /\/index\.[^./]+$/.test(present) ? posix.dirname(present) : bare(present),
    })),
  ];
}

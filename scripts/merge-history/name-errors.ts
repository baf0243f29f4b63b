import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languageOf } from '../../packages/merge/src/syntax/language.ts';
import type { Versions } from '../../packages/merge/src/versions.ts';

const COMPILER = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
/** Looks at one file by itself: what is imported counts as declared, and as any type. */
const OPTIONS =
  '--noEmit --pretty false --noResolve --allowJs --checkJs --skipLibCheck --strict false ' +
  '--moduleDetection force --jsx preserve --target esnext --module esnext';
/** Errors about a name that is not declared, or declared twice. */
const ERROR =
  /^(merged|ours|theirs)\.tsx?\(.*?\): error (?:TS2300|TS2304|TS2393|TS2451|TS2552): (.*)$/gm;

/**
 * Lists the errors about names that a merged program has and neither side. Empty for what the compiler does not
 * read as a program.
 */
export function freshNameErrors(
  path: string,
  versions: Versions<string> & { readonly merged: string },
  folder: string,
): readonly string[] {
  const language = languageOf(path);
  if (language === null || language === 'json' || language === 'declarations') return [];
  const extension = language === 'typescript' ? 'ts' : 'tsx';
  const files = (['merged', 'ours', 'theirs'] as const).map((name) => {
    const file = `${name}.${extension}`;
    writeFileSync(join(folder, file), versions[name]);
    return file;
  });
  const args = [COMPILER, ...OPTIONS.split(' '), ...files];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const found = [...stdout.matchAll(ERROR)].map(([, name, error = '']) => ({ name, error }));
  const known = new Set(found.filter(({ name }) => name !== 'merged').map(({ error }) => error));
  return found.flatMap(({ name, error }) =>
    name === 'merged' && !known.has(error) ? [error] : [],
  );
}

import { posix } from 'node:path';
import type { Value } from './values.ts';

/** A file that a text would write over, where it is there. */
export type Replacement = {
  /** Absolute, as the container has it. */
  readonly path: string;
  /** The way it is written, as the agent and the owner are told it. */
  readonly how: string;
  /** Names that are put below the path where that is a folder. */
  readonly names: readonly string[];
};

/** Tells what is at an absolute path of the container. */
export type LookAt = (path: string) => 'file' | 'folder' | null;

const START = '/workspace/group';
const KEEPS =
  /^(?:-(?=\w+$)\w*[nbi].*|--no-clobber|--interactive|--backup(?:=.*)?|--update=none.*)$/;

/** Follows the commands of a text, and notes the files that they would write over. */
export class Replacements {
  readonly all: Replacement[] = [];
  /** Files that the text has copied or moved away before. */
  readonly #kept = new Set<string>();
  #directory: Value = START;

  /** Notes the target of a redirection. */
  redirected(operator: string, target: Value): void {
    if (/^(?:>|>\||&>)$/.test(operator)) this.#note(target, '> file');
  }

  /** Notes what a program does with its words. */
  called(program: string, args: readonly Value[]): void {
    const words = args.filter((arg) => arg === null || !/^-./.test(arg));
    if (program === 'cd' || program === 'pushd') {
      this.#directory = words.length === 1 ? this.#absolute(words[0] ?? null) : null;
    } else if (
      program === 'tee' &&
      !args.some((arg) => /^(?:-(?=\w+$)\w*a.*|--append)$/.test(arg ?? ''))
    ) {
      for (const word of words) this.#note(word, 'tee');
    } else if (program === 'mv' || program === 'cp') this.#copied(program, args);
  }

  #copied(program: string, args: readonly Value[]): void {
    const at = args.indexOf('-t');
    const long = args.find((arg) => arg?.startsWith('--target-directory='));
    const words = args.filter((arg, index) => {
      return (arg === null || !/^-./.test(arg)) && (at === -1 || index !== at + 1);
    });
    const named = at === -1 ? long?.slice('--target-directory='.length) : args[at + 1];
    const target = named === undefined ? words.at(-1) : named;
    const sources = named === undefined ? words.slice(0, -1) : words;
    if (sources.length === 0 || target === undefined) return;
    const names = sources.flatMap((one) => (one === null ? [] : [posix.basename(one)]));
    if (!args.some((arg) => KEEPS.test(arg ?? ''))) this.#note(target, program, names);
    for (const source of sources) this.#kept.add(this.#absolute(source) ?? '');
  }

  #note(target: Value, how: string, names: readonly string[] = []): void {
    const path = this.#absolute(target);
    if (path !== null && !this.#kept.has(path)) this.all.push({ path, how, names });
  }

  /** Null for a path that is known only when the text runs. */
  #absolute(path: Value): Value {
    if (path === null || path === '-' || path.startsWith('~')) return null;
    if (path.startsWith('/')) return posix.resolve(path);
    return this.#directory === null ? null : posix.resolve(this.#directory, path);
  }
}

/** Returns the first file that is there and would be written over. */
export function overwritten(
  replaced: readonly Replacement[],
  lookAt: LookAt,
): { readonly path: string; readonly how: string } | null {
  for (const { path, how, names } of replaced) {
    const isFolder = lookAt(path) === 'folder';
    const paths = isFolder ? names.map((name) => posix.join(path, name)) : [path];
    const found = paths.find((one) => lookAt(one) === 'file');
    if (found !== undefined) return { path: found, how };
  }
  return null;
}

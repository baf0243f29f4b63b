import { posix } from 'node:path';
import type { Value } from './word-values.ts';

/** A file that a text would delete, change or write over, where it is there. */
export type Loss = {
  /** Absolute, as the container has it; null where it is known only when the text runs. */
  readonly path: Value;
  /** The command, as the agent and the owner are told it. */
  readonly how: string;
  readonly effect: 'deletes' | 'changes' | 'writes over';
  /** Names that are put below the path where that is a folder. */
  readonly names: readonly string[];
  /** Whether folders of these names would be merged with those that are there. */
  readonly mergesFolders: boolean;
};

/** Tells what is at an absolute path of the container. */
export type LookAt = (path: string) => 'file' | 'folder' | null;

const START = '/workspace/group';
const KEEPS =
  /^(?:-(?=\w+$)\w*[nbi].*|--no-clobber|--interactive|--backup(?:=.*)?|--update=none.*)$/;
const PACKERS = /^(?:gzip|bzip2|xz|lzma|compress|lzip|pigz|pbzip2)$/;

/** Follows the commands of a text, and notes the files whose content they would lose. */
export class Losses {
  readonly all: Loss[] = [];
  /** The file of which each of the text's own copies is one. */
  readonly #copies = new Map<string, string>();
  /** Files of which the text has made a copy that lasts. */
  readonly #kept = new Set<string>();
  /** Those of them that are left as that copy alone. */
  readonly #gone = new Set<string>();
  #directory: Value = START;

  /** Follows a part that runs in a shell of its own: its `cd` ends with it. */
  inSubshell<T>(run: () => T): T {
    const before = this.#directory;
    const result = run();
    this.#directory = before;
    return result;
  }

  /** Notes the target of a redirection. */
  redirected(operator: string, target: Value): void {
    if (/^(?:>|>\||&>)$/.test(operator)) this.#overwrites('> file', target);
  }

  /** Notes a file that a program in another language deletes or writes over. */
  ofCode(how: string, effect: Loss['effect'], path: Value): void {
    if (effect === 'writes over') this.#overwrites(how, path);
    else this.#loses(how, effect, path);
  }

  /** Notes what a program does with its words. */
  called(program: string, args: readonly Value[]): void {
    const end = args.indexOf('--');
    const has = (option: RegExp) =>
      args.some((arg, at) => (end === -1 || at < end) && arg !== null && option.test(arg));
    const words = wordsIn(args);
    switch (true) {
      case program === 'cd' || program === 'pushd':
        this.#directory = words.length === 1 ? this.#absolute(words[0] ?? null) : null;
        return;
      case program === 'popd':
        this.#directory = null;
        return;
      case program === 'rm' || program === 'unlink':
        for (const word of words) this.#loses(program, 'deletes', word);
        return;
      case program === 'truncate':
        for (const word of wordsIn(args, /^(?:-[sr]|--size|--reference)$/))
          this.#loses(program, 'changes', word);
        return;
      case program === 'sed' && has(/^(?:-[nErsuz]*i|--in-place)$/): {
        const hasScript = has(/^(?:-\w*[ef]|--expression(?:=.*)?|--file(?:=.*)?)$/);
        const files = wordsIn(args, /^(?:-\w*[ef]|--expression|--file|-l)$/);
        for (const word of files.slice(hasScript ? 0 : 1)) this.#loses('sed -i', 'changes', word);
        return;
      }
      case /^(?:perl|ruby)[\d.]*$/.test(program) && has(/^-[a-hj-z\d]*i$/i): {
        const hasScript = has(/^-\w*e$/i);
        const files = wordsIn(args, /^-\w*e$/i);
        for (const word of files.slice(hasScript ? 0 : 1))
          this.#loses(`${program} -i`, 'changes', word);
        return;
      }
      case /^[gm]?awk$/.test(program) && args.includes('inplace'): {
        const files = wordsIn(args, /^-[ivFf]$/);
        for (const word of files.slice(args.includes('-f') ? 0 : 1))
          this.#loses('awk -i inplace', 'changes', word);
        return;
      }
      case program === 'yq' && has(/^(?:-i|--inplace|--in-place)$/):
        for (const word of words.slice(1)) this.#loses('yq -i', 'changes', word);
        return;
      case program === 'exiftool' && has(/^-(?:overwrite_original.*|delete_original!?)$/):
        for (const word of words) this.#loses('exiftool', 'changes', word);
        return;
      case PACKERS.test(program) &&
        !has(/^(?:-\w*[kcldt]\w*|--keep|--stdout|--decompress|--list|--test|--help|--version)$/):
      case program === 'zstd' && has(/^--rm$/):
        for (const word of words) this.#loses(program, 'deletes', word);
        return;
      case program === 'zip' && has(/^(?:-\w*m\w*|--move)$/):
        for (const word of words.slice(1)) this.#loses('zip -m', 'deletes', word);
        return;
      case program === 'zip' && has(/^(?:-\w*d\w*|--delete)$/):
        this.#loses('zip -d', 'changes', words[0] ?? null);
        return;
      case program === 'tee':
        if (has(/^(?:-(?=\w+$)\w*a.*|--append)$/)) return;
        for (const word of words) this.#overwrites('tee', word);
        return;
      case program === 'ln':
        if (has(/^(?:-\w*f\w*|--force)$/)) this.#copied('ln -f', args);
        return;
      case /^(?:mv|cp|install|rsync)$/.test(program):
        if (program !== 'install' || !has(/^(?:-\w*d|--directory)$/)) this.#copied(program, args);
        return;
      case program === 'ffmpeg' && has(/^-y$/):
        this.#overwrites('ffmpeg -y', args.at(-1) ?? null);
        return;
      case /^(?:convert|magick)$/.test(program) && words.length > 1:
        this.#overwrites(program, words.at(-1) ?? null);
        return;
      case program === 'tar' && /^-?[a-z]*c[a-z]*f$/.test(args[0] ?? ''):
        this.#overwrites('tar c', args[1] ?? null);
        return;
      case /^(?:sort|curl|pandoc|wget)$/.test(program):
        this.#outputs(program, args);
        return;
      case program === 'git':
        this.#checkedOut(args);
        return;
      default:
    }
  }

  /** Notes the file that a program writes instead of its output. */
  #outputs(program: string, args: readonly Value[]): void {
    const option = program === 'wget' ? /^(?:-\w*O|--output-document)$/ : /^(?:-\w*o|--output)$/;
    const joined = /^(?:--output(?:-document)?=|-o(?=.))(.+)$/;
    args.forEach((arg, at) => {
      if (arg === null) return;
      const whole = joined.exec(arg)?.[1];
      if (option.test(arg)) this.#overwrites(`${program} ${arg}`, args[at + 1] ?? null);
      else if (whole !== undefined && program !== 'wget') this.#overwrites(`${program} -o`, whole);
    });
  }

  /** `git checkout x` brings back a file where x is one, and goes to a branch where it is not. */
  #checkedOut(args: readonly Value[]): void {
    const [verb, ...words] = wordsIn(args, /^(?:-[Cc]|--git-dir|--work-tree)$/);
    if (verb !== 'checkout' || args.some((arg) => /^(?:-[bBt]|--orphan)$/.test(arg ?? ''))) return;
    for (const word of words) {
      if (word !== null) this.#loses('git checkout', 'changes', word, { isKnown: true });
    }
  }

  #copied(how: string, args: readonly Value[]): void {
    const takesWord = /^(?:-[tmogS]|--target-directory|--mode|--owner|--group|-e|--rsh|--exclude)$/;
    const at = args.findIndex((arg) => arg === '-t' || arg === '--target-directory');
    const long = args.find((arg) => arg?.startsWith('--target-directory='));
    const words = wordsIn(args, takesWord);
    const named = at === -1 ? long?.slice('--target-directory='.length) : args[at + 1];
    const target = named === undefined ? words.at(-1) : named;
    const sources = named === undefined ? words.slice(0, -1) : words;
    if (sources.length === 0 || target === undefined) return;
    const names = sources.flatMap((one) => (one === null ? [] : [posix.basename(one)]));
    const isRecursive = args.some((arg) =>
      /^(?:-\w*[rRa]\w*|--recursive|--archive)$/.test(arg ?? ''),
    );
    if (!args.some((arg) => KEEPS.test(arg ?? '') && how !== 'rsync')) {
      this.#overwrites(how, target, names, isRecursive && /^(?:cp|rsync)$/.test(how));
    }
    if (how === 'ln -f') return;
    const place = this.#absolute(target);
    const isKept = place !== null && isLasting(place);
    for (const source of sources.map((one) => this.#absolute(one))) {
      if (source === null) continue;
      // In /dev/null it is lost at once, in /tmp with the container.
      if (!isKept && how === 'mv' && place !== null) this.#loses(how, 'deletes', source);
      if (!isKept) continue;
      this.#kept.add(source);
      for (const copy of [place, posix.join(place, posix.basename(source))]) {
        if (copy !== source) this.#copies.set(copy, source);
      }
      if (how === 'mv') this.#gone.add(source);
    }
  }

  #overwrites(
    how: string,
    target: Value,
    names: readonly string[] = [],
    mergesFolders = false,
  ): void {
    const path = this.#absolute(target);
    // A name that is known only when it runs is mostly a new one.
    if (path === null || this.#isKept(path)) return;
    this.all.push({ path, how, effect: 'writes over', names, mergesFolders });
  }

  #loses(how: string, effect: Loss['effect'], target: Value, { isKnown = false } = {}): void {
    const isPattern = target !== null && /[*?[]|\{\}/.test(target);
    const path = isPattern ? null : this.#absolute(target);
    if (path === null ? isKnown : this.#isKept(path)) return;
    this.all.push({ path, how, effect, names: [], mergesFolders: false });
  }

  /** Tells whether the text has a copy of a file, and notes the file of which this one is the last copy. */
  #isKept(path: string): boolean {
    const source = this.#copies.get(path);
    if (source !== undefined && this.#kept.delete(source) && this.#gone.has(source)) {
      this.all.push({
        path: source,
        how: 'mv',
        effect: 'deletes',
        names: [],
        mergesFolders: false,
      });
    }
    if (!this.#kept.has(path)) return false;
    this.#gone.add(path);
    return true;
  }

  /** Null for a path that is known only when the text runs. */
  #absolute(path: Value): Value {
    if (path === null || path === '-' || path.startsWith('~')) return null;
    if (path.startsWith('/')) return posix.resolve(path);
    return this.#directory === null ? null : posix.resolve(this.#directory, path);
  }
}

/** Returns the words that are no options, nor the words of those that take one. */
function wordsIn(args: readonly Value[], takesWord = /^$/): readonly Value[] {
  const end = args.indexOf('--');
  return args.filter((arg, at) => {
    if (end !== -1 && at >= end) return at !== end;
    return (arg === null || !/^-./.test(arg)) && !takesWord.test(args[at - 1] ?? '-');
  });
}

/** Tells whether a file stays when the container ends. */
function isLasting(path: string): boolean {
  return path.startsWith('/workspace/');
}

/** Returns the first file that is there, or may be, and whose content would be lost. */
export function lostFile(losses: readonly Loss[], lookAt: LookAt): Loss | null {
  for (const loss of losses) {
    const { path, names, mergesFolders } = loss;
    if (path === null) return loss;
    const isFolder = lookAt(path) === 'folder';
    const paths =
      isFolder && names.length > 0 ? names.map((name) => posix.join(path, name)) : [path];
    const found = paths.find(
      (one) => lookAt(one) === 'file' || (mergesFolders && lookAt(one) === 'folder'),
    );
    if (found !== undefined) return { ...loss, path: found };
  }
  return null;
}

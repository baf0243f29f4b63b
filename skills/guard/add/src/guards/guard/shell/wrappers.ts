import type { Value } from './word-values.ts';

/** Options of programs that run another, which take a word of their own. */
const WITH_WORD: Readonly<Record<string, RegExp>> = {
  sudo: /^-[ugpCrtThDR]$/,
  doas: /^-[uC]$/,
  env: /^-[uCS]$/,
  nice: /^-n$/,
  ionice: /^-[cnp]$/,
  timeout: /^-[ks]$/,
  stdbuf: /^-[ioe]$/,
  xargs: /^-[IiLlnPsdEa]$/,
  parallel: /^-[jNIn]$/,
  strace: /^-[eoPs]$/,
  watch: /^-n$/,
  flock: /^-[wE]$/,
  exec: /^-a$/,
  unshare: /^$/,
};

/** Words of their own that stand before the other program. */
const WORDS_BEFORE: Readonly<Record<string, number>> = { timeout: 1, chroot: 1, flock: 1, ssh: 1 };

const WRAPPERS = new Set([
  ...Object.keys(WITH_WORD),
  ...Object.keys(WORDS_BEFORE),
  'command',
  'builtin',
  'nohup',
  'time',
  'setsid',
  'busybox',
  'toybox',
  'catchsegv',
  'ltrace',
]);

/** Tells whether a program runs the program that its words name. */
export function isWrapper(program: string): boolean {
  return WRAPPERS.has(program);
}

/** Returns the words of the program that another one runs; none where it runs none. */
export function wrapped(program: string, args: readonly Value[]): readonly Value[] {
  if (program === 'command' && args.some((arg) => /^-[vV]$/.test(arg ?? ''))) return [];
  const takesWord = WITH_WORD[program];
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === null || arg === undefined) break;
    if (takesWord?.test(arg) && !(program === 'env' && arg === '-S')) at += 1;
    else if (!arg.startsWith('-') && !(program === 'env' && /^\w+=/.test(arg))) break;
  }
  return args.slice(at + (WORDS_BEFORE[program] ?? 0));
}

/**
 * Returns the words that `xargs` gives a program: its own, and those that it reads.
 *
 * @param read the text that it reads; null where that is known only when it runs
 */
export function withReadWords(
  words: readonly Value[],
  options: readonly Value[],
  read: Value,
): readonly Value[] {
  const at = options.indexOf('-I');
  const place = options[at + 1];
  if (at !== -1 && place) return words.map((word) => (word?.includes(place) ? null : word));
  return [...words, ...(read?.split(/\s+/).filter((one) => one !== '') ?? [null])];
}

/** Returns the texts that git gives a shell: an alias that begins with `!`. */
export function commandsOfGit(args: readonly Value[]): readonly string[] {
  const alias = args.includes('config')
    ? /^(?:alias\.[\w-]+=)?!([\s\S]+)$/
    : /^alias\.[\w-]+=!([\s\S]+)$/;
  return args.flatMap((arg) => alias.exec(arg ?? '')?.[1] ?? []);
}

/** Returns the commands in `find … -exec … ;`. */
export function executedByFind(args: readonly Value[]): readonly (readonly Value[])[] {
  return args.flatMap((arg, index): (readonly Value[])[] => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(arg ?? '')) return [];
    const rest = args.slice(index + 1);
    const end = rest.findIndex((one) => one === ';' || one === '+');
    const words = end === -1 ? rest : rest.slice(0, end);
    // What it finds is known only when it runs.
    return [words.map((one, at) => (at > 0 && one === '{}' ? null : one))];
  });
}

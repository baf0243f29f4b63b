import type { Value } from './word-values.ts';

const USUAL = ['GNUmakefile', 'makefile', 'Makefile'];

/** Returns the files with the rules that `make` follows, and the rules among its own words. */
export function rulesOf(args: readonly Value[]): {
  readonly files: readonly Value[];
  readonly texts: readonly Value[];
} {
  const after = (option: RegExp) =>
    args.flatMap((arg, index): readonly Value[] => {
      const [, joined] = option.exec(arg ?? '') ?? [];
      if (joined === undefined) return [];
      return [joined === '' ? (args[index + 1] ?? null) : joined];
    });
  const files = after(/^(?:-[a-z]*?f|--(?:make)?file=?)(.*)$/s);
  return {
    files: (files.length === 0 ? USUAL : files).map((file) => (file === '-' ? '/dev/stdin' : file)),
    texts: after(/^(?:-E|--eval=?)(.*)$/s),
  };
}

/** Returns the commands in rules for `make`, as a shell is given them. */
export function commandsInRules(rules: string): string {
  // Lines may begin with another sign than a tab then: nothing can be told of them.
  if (rules.includes('.RECIPEPREFIX')) return '"$@"';
  return rules
    .replace(/(?<!\$)\$[@<^*?+|%]/g, 'target')
    .split('\n')
    .flatMap((line) => commandOf(line)?.replaceAll(/\$\(shell\s/g, '$(') ?? [])
    .join('\n')
    .replaceAll('$$', '$');
}

function commandOf(line: string): string | undefined {
  const [, command] =
    /^\t[\s@+-]*(.*)/.exec(line) ??
    /^[^\t=:]*:[^=;]*;(.*)/.exec(line) ??
    /^[^\t=]*!=(.*)/.exec(line) ??
    [];
  if (command !== undefined) return command;
  const at = line.indexOf('$(shell');
  return at === -1 ? undefined : line.slice(at);
}

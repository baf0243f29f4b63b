import type { Command } from 'commander';

/** Returns the first word that is neither an option nor the value of one. */
export function calledVerb(program: Command, args: readonly string[]): string | null {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) return word;
    if (
      program.options.some(
        (option) => option.required && [option.short, option.long].includes(word),
      )
    )
      at += 1;
  }
  return null;
}

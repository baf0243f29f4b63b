/** Writes a command of a systemd unit; its colon keeps `$` from being taken for a variable. */
export function unitCommand(program: string, ...args: readonly string[]): string {
  // The one place where systemd takes no quotes, however they are escaped.
  const isOdd = /["'\\\x00-\x1f\x7f]/.test(program);
  const shell = isOdd ? ['/bin/sh', '-c', 'exec "$@"', 'sh'] : [];
  return `:${[...shell, program, ...args].map(unitWord).join(' ')}`;
}

/** Quotes one word of a systemd unit, whatever it holds: spaces, quotes, and `%`, which systemd replaces even in quotes. */
export function unitWord(word: string): string {
  const escaped = word
    .replace(/[\\"]/g, '\\$&')
    .replace(/[\x00-\x1f\x7f]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped.replaceAll('%', '%%')}"`;
}

import { parseEnv } from 'node:util';

/** Returns the value of a setting as programs read it: without quotes and without a comment after it. */
export function envValue(written: string): string {
  return parseEnv(`X=${written}`)['X'] ?? '';
}

/** Writes a value for a line of an env file: quotes everything that readers would cut or trim. */
export function quoteEnv(value: string): string {
  if (/^[^\s#'"`]*$/.test(value)) return value;
  // In double quotes, readers take `\n` for a line break.
  const marks = value.includes('\\') ? ["'", '`', '"'] : ['"', "'", '`'];
  const mark = marks.find((candidate) => !value.includes(candidate));
  // A value that holds every kind of quotes stays as it is.
  return mark === undefined ? value : mark + value + mark;
}

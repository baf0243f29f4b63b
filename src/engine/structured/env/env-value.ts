import { parseEnv } from 'node:util';

/** Returns the value of a setting as programs read it: without quotes, without a comment behind it. */
export function envValue(written: string): string {
  return parseEnv(`X=${written}`)['X'] ?? '';
}

/** Returns a value as a line of an env file says it: what readers would cut or trim stands in quotes. */
export function quoteEnv(value: string): string {
  if (/^[^\s#'"`]*$/.test(value)) return value;
  // In double quotes, readers take `\n` for a line break.
  const marks = value.includes('\\') ? ["'", '`', '"'] : ['"', "'", '`'];
  const mark = marks.find((candidate) => !value.includes(candidate));
  // A value that holds every kind of quotes stays as it is.
  return mark === undefined ? value : mark + value + mark;
}

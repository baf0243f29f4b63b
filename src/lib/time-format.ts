const made = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns a formatter of moments, the same one for the same options. Making one takes a third of a millisecond,
 * longer than most of the work for a message.
 *
 * @throws RangeError for a time zone that is not known
 */
export function timeFormat(
  locale: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const known = made.get(key);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat(locale, options);
  made.set(key, format);
  return format;
}

import { z } from 'zod';

/** Longer than any text that a messenger, a model or a tool sends in one piece, in characters. */
export const LONGEST_TEXT = 1_048_576;
/** More than one page, event or message holds of anything. */
export const MOST_ITEMS = 2_000;
/** More names than one value of a known kind has. */
export const MOST_NAMES = 500;

/** Creates the schema of a text from outside, which has a greatest length. */
export function text(maxLength = LONGEST_TEXT) {
  return z.string().max(maxLength);
}

/**
 * Creates the schema of a list from outside: of so many items at most, and refused at the first one that does not fit.
 * zod's own keeps an issue for each such item, so that a list of many costs seconds and gigabytes.
 */
export function list<S extends z.ZodType>(item: S | (() => S), maxItems = MOST_ITEMS) {
  return z
    .array(z.unknown())
    .max(maxItems)
    .transform((values, context) => {
      const schema = typeof item === 'function' ? item() : item;
      const items: z.output<S>[] = [];
      for (const [at, value] of values.entries()) {
        const { data, error } = schema.safeParse(value);
        const [issue] = error?.issues ?? [];
        if (issue !== undefined) {
          const { message, path } = issue;
          context.issues.push({ code: 'custom', message, path: [at, ...path], input: value });
          return z.NEVER;
        }
        items.push(data as z.output<S>);
      }
      return items;
    });
}

/** Creates the schema of an object from outside whose names are not known; of so many at most. */
export function dictionary<S extends z.ZodType>(value: S, maxNames = MOST_NAMES) {
  return z
    .custom<Record<string, unknown>>((given) => namesIn(given) <= maxNames, {
      abort: true,
      error: `Expected an object of at most ${maxNames} names`,
    })
    .pipe(z.record(z.string(), value));
}

/** Returns the number of an object's own names; more than any limit if it is not an object. */
export function namesIn(value: unknown): number {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.keys(value).length : Number.POSITIVE_INFINITY;
}

import type { z } from 'zod';

/** `.env` and the environment over it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting whose value cannot be used, and the rule for its value. */
export type WrongSetting = { readonly name: string; readonly problem: string };

/** The problem of a setting that is neither optional nor set. */
const NOT_SET = 'is not set';

/** Returns a wrong setting as a sentence without its stop: `MODEL in line 2 of .env must be …`. */
export function wrongText({ name, problem }: WrongSetting, place: string): string {
  if (problem === NOT_SET) return `${name} ${NOT_SET}`;
  // What a library says is a sentence of its own.
  return `${name} in ${place}${/^[a-z]/.test(problem) ? '' : ':'} ${problem}`;
}

/**
 * Reads settings by a schema over names of the environment. An empty value counts as not set.
 *
 * @returns the values, or each setting that is wrong or lacking, in the order of the schema
 */
export function parseSettings<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
  environment: Environment,
):
  | { readonly ok: true; readonly values: z.output<z.ZodObject<S>> }
  | { readonly ok: false; readonly wrong: readonly WrongSetting[] } {
  const given = withoutEmpty(environment);
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, values: parsed.data };
  const problems = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    // Of several problems with one setting, the first is told.
    const name = String(path[0]);
    if (problems.has(name)) continue;
    problems.set(name, given[name] === undefined ? NOT_SET : inPlainWords(message));
  }
  return { ok: false, wrong: [...problems].map(([name, problem]) => ({ name, problem })) };
}

/**
 * Reads the settings that are right, and takes the defaults of those that are not.
 *
 * @throws ZodError where a setting is wrong that has no default
 */
export function parseWhatFits<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
  environment: Environment,
): { readonly values: z.output<z.ZodObject<S>>; readonly wrong: readonly WrongSetting[] } {
  const parsed = parseSettings(schema, environment);
  if (parsed.ok) return { values: parsed.values, wrong: [] };
  const names = new Set(parsed.wrong.map(({ name }) => name));
  const right = Object.entries(withoutEmpty(environment)).filter(([name]) => !names.has(name));
  return { values: schema.parse(Object.fromEntries(right)), wrong: parsed.wrong };
}

/** Rewrites what zod says of a value of another type, which no one who writes `.env` has to know. */
function inPlainWords(message: string): string {
  const [, expected] = /^Invalid input: expected (\w+), received \w+$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return `must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

import { z } from 'zod';
import { type Environment, parseSettings, type WrongSetting } from './settings.ts';

/**
 * One file's contribution to the assistant, such as a channel, as discovered: `define…` of its kind
 * makes it.
 */
export type Contribution<Context extends object, Made> = {
  /** Unique within its kind. */
  readonly name: string;
  /** The schema of its settings: names of the environment. */
  readonly settings: z.ZodObject;
  /** Makes it of its own settings and of a context that holds nothing else. */
  open(environment: Environment, context: Context): Opened<Made>;
};

/** What became of a contribution: made, or not, because of these settings of its own. */
export type Opened<Made> =
  | { readonly kind: 'made'; readonly value: Made }
  | { readonly kind: 'wrong-settings'; readonly wrong: readonly WrongSetting[] };

/** A contribution as its file writes it. */
export type ContributionDefinition<S extends z.ZodRawShape, Context extends object, Made> = {
  readonly name: string;
  readonly settings?: z.ZodObject<S>;
  create(context: Context & { readonly settings: z.output<z.ZodObject<S>> }): Made;
};

/**
 * Makes a contribution of its definition. It is given its own settings, parsed, and never the
 * environment; where one is wrong or lacking it is not made, and the others are.
 */
export function contributionOf<S extends z.ZodRawShape, Context extends object, Made>({
  name,
  settings,
  create,
}: ContributionDefinition<S, Context, Made>): Contribution<Context, Made> {
  const schema = settings ?? (z.object({}) as unknown as z.ZodObject<S>);
  return {
    name,
    settings: schema,
    open(environment, context) {
      const parsed = parseSettings(schema, environment);
      if (!parsed.ok) return { kind: 'wrong-settings', wrong: parsed.wrong };
      return { kind: 'made', value: create({ ...context, settings: parsed.values }) };
    },
  };
}

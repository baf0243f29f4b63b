import { z } from 'zod';
import { type Environment, parseSettings, type WrongSetting } from './settings.ts';
import { faultIn, fileOf } from './tree-fault.ts';

/**
 * One file's contribution to the assistant, such as a channel, as discovered: `define…` of its kind
 * makes it.
 */
export type Contribution<Context extends object, Made> = {
  /** Unique within its kind. */
  readonly name: string;
  /** The schema of its settings: names of the environment. */
  readonly settings: z.ZodObject;
  /** The settings without which it stays silent. */
  readonly needs: readonly string[];
  /** Makes it of its own settings and of a context that holds nothing else. */
  open(environment: Environment, context: Context): OpenedContribution<Made>;
};

/** Result of opening a contribution: made, or not, because of these settings of its own. */
export type OpenedContribution<Made> =
  | { readonly kind: 'made'; readonly value: Made }
  | { readonly kind: 'wrong-settings'; readonly wrong: readonly WrongSetting[] };

/** A contribution as its file writes it. */
export type ContributionDefinition<S extends z.ZodRawShape, Context extends object, Made> = {
  readonly name: string;
  readonly settings?: z.ZodObject<S>;
  readonly needs?: readonly string[];
  create(context: Context & { readonly settings: z.output<z.ZodObject<S>> }): Made;
};

/**
 * Thrown by `create` if something that a contribution needs of this machine cannot be used: only this contribution
 * stays off.
 */
export class NotUsable extends Error {
  override readonly name = 'NotUsable';
}

/** A contribution that stays silent, and why. */
export type SilentContribution = {
  readonly name: string;
  /** The settings that it needs. */
  readonly needs: readonly string[];
  /** Settings of its own that cannot be used. */
  readonly wrong: readonly WrongSetting[];
  /** A sentence about a part of this machine that it needs and cannot use. */
  readonly unusable?: string;
};

/** A contribution that was made. */
export type NamedContribution<Made> = { readonly name: string; readonly value: Made };

/**
 * Makes a contribution from its definition. It gets its own settings, parsed, and never the environment. If one is
 * wrong or missing, this contribution is not made, and the others are.
 */
export function contributionOf<S extends z.ZodRawShape, Context extends object, Made>({
  name,
  settings,
  needs = [],
  create,
}: ContributionDefinition<S, Context, Made>): Contribution<Context, Made> {
  const schema = settings ?? (z.object({}) as unknown as z.ZodObject<S>);
  return {
    name,
    settings: schema,
    needs,
    open(environment, context) {
      const parsed = parseSettings(schema, environment);
      if (!parsed.ok) return { kind: 'wrong-settings', wrong: parsed.wrong };
      return { kind: 'made', value: create({ ...context, settings: parsed.values }) };
    },
  };
}

/** Creates the schema that refuses an export which `define…` of a kind has not made. */
export function contributionSchema<C extends Contribution<never, unknown>>(
  how: string,
): z.ZodType<C> {
  const Shape = z.looseObject({ name: z.string().min(1), open: z.function() });
  return z.custom<C>((value) => Shape.safeParse(value).success, `must be made by ${how}`);
}

/**
 * Opens the contributions of one kind, each with its own settings. One whose settings cannot be used
 * stays silent, and the others are not touched by that; one that makes null has nothing set for it.
 *
 * @param contextOf called for each, so that no two share an object
 */
export function openContributions<Context extends object, Made>(
  definitions: readonly Contribution<Context, Made | null>[],
  environment: Environment,
  contextOf: (name: string) => Context,
): {
  readonly made: readonly NamedContribution<Made>[];
  readonly silent: readonly SilentContribution[];
} {
  const made: NamedContribution<Made>[] = [];
  const silent: SilentContribution[] = [];
  for (const definition of definitions) {
    const { name, needs } = definition;
    const outcome = openOne(definition, environment, contextOf(name));
    if (outcome.kind === 'unusable')
      silent.push({ name, needs, wrong: [], unusable: outcome.reason });
    else if (outcome.kind === 'wrong-settings') silent.push({ name, needs, wrong: outcome.wrong });
    else if (outcome.value === null) silent.push({ name, needs, wrong: [] });
    else made.push({ name, value: outcome.value });
  }
  return { made, silent };
}

function openOne<Context extends object, Made>(
  definition: Contribution<Context, Made | null>,
  environment: Environment,
  context: Context,
): OpenedContribution<Made | null> | { readonly kind: 'unusable'; readonly reason: string } {
  try {
    return definition.open(environment, context);
  } catch (error) {
    if (!(error instanceof NotUsable))
      throw faultIn(fileOf(definition) ?? definition.name, 'cannot be made', error);
    return { kind: 'unusable', reason: error.message };
  }
}

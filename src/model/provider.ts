import { z } from 'zod';
import type { Price } from '../config.ts';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../lib/contribution.ts';
import { discoverExports } from '../lib/discover.ts';
import type { Environment } from '../lib/settings.ts';
import type { ReadModels } from './catalog/listed-model.ts';
import type { Protocol } from './protocol.ts';
import type { TokenCounts } from './tokens.ts';

/** Services that a provider works with, beside its own settings. */
export type ProviderContext = {
  readonly now: () => number;
  /** Reads one of its own settings as `.env` has it at that moment, such as a key; undefined where it is empty. */
  readonly read: (setting: string) => string | undefined;
};

/** A provider's server, as its settings name it. */
export type ModelServer = {
  /** The address as the owner knows it, for sentences. */
  readonly baseUrl: string;
  /** Returns where a call on one of the provider's paths goes; by default as its protocol says. */
  url?(path: string): URL;
  /** Returns where its list of models is; by default as its protocol says. */
  listUrl?(): URL;
  /** False where nothing is set for it, so that it is not asked for its models. True by default. */
  isSetUp?(): boolean;
  /** Returns the headers that hold the key. Called for each request, so that a key may change. */
  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Returns keys that a server may repeat in an error, where they are blotted out. */
  secrets(): readonly string[];
  /** Returns one sentence about why it cannot be asked now, such as a missing key; null where it can. */
  problem(): string | null;
};

/** Abilities of a model. The core offers no tools to one that cannot call them. */
export type Abilities = {
  readonly vision: boolean;
  readonly tools: boolean;
  readonly reasoning: boolean;
};

/** Prices of a provider's models. */
export type Prices = {
  /** The day of the list, as `2026-11-21`. */
  readonly asOf: string;
  /** Returns the price of a model's tokens in such a call; null where it is not known. */
  of(model: string, counts: TokenCounts): Price | null;
};

/** Questions and words of `claw setup` for a provider. */
export type ProviderSetup = {
  /** The provider's name, as one choice of a list. */
  readonly label: string;
  /** The setting that takes its key. */
  readonly keySetting: string;
  /** The place where its keys are made, as the end of a sentence. */
  readonly keyMadeIn: string;
  readonly isKeyNeeded: boolean;
  /** The setting that takes its address; null where there is none. */
  readonly addressSetting: string | null;
  /** The address that Enter takes; empty if it has to be typed, null if none is asked for. */
  readonly proposedAddress: string | null;
  /** Services that this provider's protocol reaches, by the names that people look for. */
  readonly services?: readonly KnownService[];
};

/** A service at a fixed address. */
export type KnownService = {
  /** Left out where a provider of this name is installed. */
  readonly name: string;
  readonly label: string;
  readonly address: string;
  /** The place where its keys are made; null if it takes none. */
  readonly keyMadeIn: string | null;
};

type ProviderFacts = {
  /** Providers are shown in this order; the first with a default model has the default of all. */
  readonly order: number;
  /** Beginnings of its models' names in MODEL, such as `acme/`. The longest that fits a name counts. */
  readonly prefixes: readonly [string, ...string[]];
  /** Further prefixes, by the owner's settings. */
  prefixesIn?(environment: Environment): readonly string[];
  readonly protocol: Protocol;
  readonly setup: ProviderSetup;
  /** Its model where none is named, without the prefix. */
  readonly defaultModel?: string;
  /** Paths of the protocol that agents may call; all of them by default. */
  readonly paths?: readonly string[];
  /**
   * Rewrites a request, where its servers refuse or miss something in one of the protocol. It is the agent's
   * request after all checks, so that it can ask for nothing else.
   */
  adapt?(request: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Reads token counts, where its servers tell them otherwise than the protocol says. */
  readonly countsIn?: Protocol['countsIn'];
  /** Reads its list of models, where its servers write it otherwise than the protocol says. */
  readonly modelsIn?: ReadModels;
  /** True where that list tells prices, which count before those of `prices`. */
  readonly listsPrices?: boolean;
  readonly prices?: Prices;
  /** Returns how many tokens a model takes; null for what is usual for its name. */
  contextTokensOf?(model: string): number | null;
  /** Returns what a model cannot do, or can; all of it by default. */
  abilitiesOf?(model: string): Partial<Abilities>;
};

/** The export `provider` of a file in `src/model/providers/`. */
export type ProviderContribution = Contribution<ProviderContext, ModelServer> & ProviderFacts;

/** Defines a provider of models. While its settings cannot be used, none of its models is asked. */
export function defineProvider<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, ProviderContext, ModelServer> & ProviderFacts,
): ProviderContribution {
  const { create: _, settings: __, needs: ___, ...facts } = definition;
  return { ...facts, ...contributionOf(definition) };
}

const Definition = contributionSchema<ProviderContribution>(
  'defineProvider({ name, order, prefixes, protocol, setup, create })',
);

/**
 * Returns the providers of this tree, in their order: of the files that export a `provider`.
 *
 * @throws TypeError where two of them have one prefix
 */
export async function discoverProviders(
  folder = `${import.meta.dirname}/providers`,
): Promise<readonly ProviderContribution[]> {
  const found = await discoverExports(folder, 'provider', Definition);
  refuseTwinPrefixes(found);
  return found.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
}

/**
 * Returns the providers with the prefixes that the owner's settings give them. A prefix that another provider
 * has stays with that.
 */
export function withOwnPrefixes(
  providers: readonly ProviderContribution[],
  environment: Environment,
): readonly ProviderContribution[] {
  const taken = new Set(providers.flatMap(({ prefixes }) => prefixes));
  return providers.map((provider) => {
    const own = (provider.prefixesIn?.(environment) ?? []).filter((prefix) => !taken.has(prefix));
    for (const prefix of own) taken.add(prefix);
    return own.length === 0 ? provider : { ...provider, prefixes: [...provider.prefixes, ...own] };
  });
}

function refuseTwinPrefixes(found: readonly ProviderContribution[]): void {
  const holders = new Map<string, string>();
  for (const { name, prefixes } of found) {
    for (const prefix of prefixes) {
      const holder = holders.get(prefix);
      if (holder !== undefined) {
        throw new TypeError(
          `The model providers "${holder}" and "${name}" both have the prefix "${prefix}". Change one of them.`,
        );
      }
      holders.set(prefix, name);
    }
  }
}

/** The provider that a name of a model names by its longest prefix, and the rest of the name. */
export type NamedModel = {
  readonly provider: ProviderContribution;
  readonly model: string;
};

/** Finds the provider of a model by the longest prefix that fits; null where none does. */
export function findProvider(
  providers: readonly ProviderContribution[],
  name: string,
): NamedModel | null {
  const fitting = providers
    .flatMap((provider) => provider.prefixes.map((prefix) => ({ provider, prefix })))
    .filter(({ prefix }) => name.startsWith(prefix) && name.length > prefix.length)
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  const [longest] = fitting;
  if (longest === undefined) return null;
  return { provider: longest.provider, model: name.slice(longest.prefix.length) };
}

/** Returns the name of the model that answers where MODEL is not set; null where no provider has one. */
export function defaultModelOf(providers: readonly ProviderContribution[]): string | null {
  const found = providers.find(({ defaultModel }) => defaultModel !== undefined);
  return found === undefined ? null : `${found.prefixes[0]}${found.defaultModel}`;
}

/** Returns the providers' own settings, keys among them, for the one program that asks models. */
export function keysOfProviders(
  providers: readonly ProviderContribution[],
  environment: Environment,
): Environment {
  const names = providers.flatMap(({ settings }) => Object.keys(settings.shape));
  return Object.fromEntries(names.map((name) => [name, environment[name]]));
}

/** Creates the schema of MODEL, which takes the models of these providers. */
export function modelSetting(providers: readonly ProviderContribution[]) {
  const forms = providers.flatMap(({ prefixes }) => prefixes.map((prefix) => `${prefix}<model>`));
  const list = [forms.slice(0, -1).join(', '), forms.at(-1)].filter(Boolean).join(' or ');
  return z.object({
    MODEL: z
      .string()
      .refine((name) => findProvider(providers, name) !== null, `must be ${list}`)
      .optional(),
  });
}

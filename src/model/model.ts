import type { Price, Settings } from '../config.ts';
import { openContributions, type SilentContribution } from '../lib/contribution.ts';
import type { Environment } from '../lib/settings.ts';
import type { ListedModel } from './catalog/listed-model.ts';
import { hasPrice } from './metering/price.ts';
import type { Protocol } from './protocol.ts';
import {
  type Abilities,
  defaultModelOf,
  findProvider,
  type ModelServer,
  type ProviderContribution,
  withOwnPrefixes,
} from './provider.ts';
import { createQuirks, type Quirks } from './quirks.ts';
import type { TokenCounts } from './tokens.ts';

/** A model, and the server that answers for it. */
export type Model = {
  /** As in MODEL, with the prefix of its provider. */
  readonly id: string;
  /** As its server knows it. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly server: ModelServer;
  /** The calls that an agent may make, as paths on its socket. */
  readonly paths: readonly string[];
  readonly countsIn: Protocol['countsIn'];
  /** Returns a request as its server takes it. */
  adapt(request: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Features that its server has refused so far. */
  readonly quirks: Quirks;
  readonly contextTokens: number;
  /** The longest answer that it is asked for; null where its server's own limit counts. */
  readonly answerTokens: number | null;
  readonly abilities: Abilities;
  /** Returns what tokens cost in such a call; null where that is not known. */
  priceOf(counts: TokenCounts): Price | null;
  /** True if the list of its provider's models tells prices. */
  readonly listsPrices: boolean;
  /** The day of its prices; null where they are the owner's own, or not known. */
  readonly pricesAsOf: string | null;
};

/** The models that can be asked here. */
export type Models = {
  /** The name of the model of the settings, as in MODEL. */
  readonly configuredName: string;
  /** The model of the settings; null where its provider is not installed, or its settings cannot be used. */
  readonly configured: Model | null;
  /** Returns one sentence about why that model cannot be asked now; null where it can. */
  problem(): string | null;
  /** Returns a model by its name with the prefix; null where no provider here has it. */
  find(name: string): Model | null;
  /** Providers that can be asked, each with its server, in their order. */
  readonly providers: readonly InstalledProvider[];
  /** Takes in what servers tell of their models: models found later have that window and price. */
  learn(models: readonly (ListedModel & { readonly id: string })[]): void;
  /** Providers whose settings cannot be used. */
  readonly silent: readonly SilentContribution[];
};

/** A provider whose settings can be used. */
export type InstalledProvider = {
  readonly provider: ProviderContribution;
  readonly server: ModelServer;
};

/** Facts about the model of the settings, without the means to ask it. */
export type ModelReport = {
  readonly name: string;
  /** True if its provider is installed, with settings that can be used. */
  readonly isThere: boolean;
  readonly hasKey: boolean;
  readonly hasPrice: boolean;
  readonly pricesAsOf: string | null;
  /** Returns one sentence about why it cannot be asked now; null where it can. */
  problem(): string | null;
};

/** Returns what is told of the model of the settings. */
export function modelReport({ configured, configuredName, problem }: HostModels): ModelReport {
  return {
    name: configuredName,
    isThere: configured !== null,
    hasKey: (configured?.server.secrets().length ?? 0) > 0,
    hasPrice: configured !== null && hasPrice(configured),
    pricesAsOf: configured?.pricesAsOf ?? null,
    problem,
  };
}

/** As much of the models as the host needs: turns get theirs from the routers. */
export type HostModels = Pick<
  Models,
  'configuredName' | 'configured' | 'problem' | 'find' | 'learn'
>;

/** The settings that tell of the model: its name, and what the owner knows of it. */
export type OfTheModel = Pick<Settings, 'model' | 'modelContext' | 'modelPrice' | 'modelPrices'>;

export type ModelsOptions = {
  readonly settings: OfTheModel;
  readonly now?: () => number;
  /** Returns `.env` and the environment over it as they are at that moment; by default as they were. */
  readonly currentEnvironment?: (() => Environment) | undefined;
};

/** Opens the providers of this tree, each with its own settings, and finds the model of the settings. */
export function openModels(
  installed: readonly ProviderContribution[],
  environment: Environment,
  { settings, now = Date.now, currentEnvironment = () => environment }: ModelsOptions,
): Models {
  const providers = withOwnPrefixes(installed, environment);
  const contextOf = (name: string) => {
    const own = providers.find((provider) => provider.name === name)?.settings.shape ?? {};
    const read = (setting: string): string | undefined =>
      Object.hasOwn(own, setting) ? currentEnvironment()[setting] || undefined : undefined;
    return { now, read };
  };
  const { made, silent } = openContributions(providers, environment, contextOf);
  const servers = new Map(made.map(({ name, value }) => [name, value]));
  const told = new Map<string, ListedModel>();
  const quirks = new Map<string, Quirks>();
  const configuredName = settings.model ?? defaultModelOf(providers) ?? '';

  /** The longest name that fits is the most exact one. */
  function namedPrice(model: string): Price | null {
    const fitting = (settings.modelPrices ?? []).filter(
      ({ name }) => name === model || (name.endsWith('/') && model.startsWith(name)),
    );
    const [best] = fitting.toSorted((one, other) => other.name.length - one.name.length);
    return best?.price ?? null;
  }

  function find(name: string): Model | null {
    const named = findProvider(providers, name);
    const server = named === null ? undefined : servers.get(named.provider.name);
    if (named === null || server === undefined) return null;
    // The window, and a price without a name, are those of the model that the owner has chosen.
    const chosen = name === configuredName ? settings : { modelContext: null, modelPrice: null };
    const own = { ...chosen, modelPrice: namedPrice(name) ?? chosen.modelPrice };
    const known = quirks.get(name) ?? createQuirks();
    quirks.set(name, known);
    return modelOf({
      id: name,
      ...named,
      server,
      own,
      told: told.get(name) ?? null,
      quirks: known,
    });
  }

  const configured = find(configuredName);
  return {
    configuredName,
    configured,
    find,
    providers: providers.flatMap((provider) => {
      const server = servers.get(provider.name);
      return server === undefined ? [] : [{ provider, server }];
    }),
    learn(models) {
      for (const model of models) told.set(model.id, model);
    },
    silent,
    problem: () =>
      configured === null
        ? 'No model can be asked: `npx claw doctor` says which setting to fix.'
        : configured.server.problem(),
  };
}

type Parts = {
  readonly id: string;
  readonly provider: ProviderContribution;
  readonly model: string;
  readonly server: ModelServer;
  readonly own: Pick<Settings, 'modelContext' | 'modelPrice'>;
  /** As its server's list tells it; null where it was not asked. */
  readonly told: ListedModel | null;
  readonly quirks: Quirks;
};

function modelOf({ id, provider, model: name, server, own, told, quirks }: Parts): Model {
  const { protocol, prices, paths = protocol.paths, countsIn = protocol.countsIn } = provider;
  const toldPrice = told?.price ?? null;
  const isTold = toldPrice !== null && provider.listsPrices === true;
  const priceOf = (counts: TokenCounts): Price | null =>
    isTold ? toldPrice : (prices?.of(name, counts) ?? toldPrice);
  return {
    id,
    name,
    protocol,
    server,
    paths,
    countsIn,
    adapt: (request) => provider.adapt?.(request) ?? request,
    quirks,
    answerTokens:
      protocol.usualAnswerTokens === null
        ? null
        : (quirks.maxAnswerTokens ?? told?.answerTokens ?? protocol.usualAnswerTokens),
    contextTokens:
      own.modelContext ??
      told?.contextTokens ??
      provider.contextTokensOf?.(name) ??
      knownWindowOf(name),
    abilities: { vision: true, tools: true, reasoning: true, ...provider.abilitiesOf?.(name) },
    priceOf: (counts) => own.modelPrice ?? priceOf(counts),
    listsPrices: provider.listsPrices === true,
    get pricesAsOf() {
      return own.modelPrice === null && !isTold ? (prices?.asOf ?? null) : null;
    },
  };
}

/** Context sizes in tokens by the beginning of a model's name; the first that fits counts. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^gpt-4-turbo/, 128_000],
  [/^gpt-4/, 8_192],
  [/^gpt-6/, 1_050_000],
  [/^gpt-5/, 400_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
  [/^deepseek-/, 128_000],
  [/^mistral-large|^mistral-medium|^mistral-small/, 128_000],
  [/^(meta-)?llama-?3\.[1-3]/, 128_000],
];
const DEFAULT_WINDOW = 200_000;

/**
 * Returns how many tokens a model takes as far as its name tells, else 200,000. Many servers offer the
 * same models, so this belongs to no provider. A wrong guess costs a refused call before the
 * conversation is summarised.
 */
function knownWindowOf(model: string): number {
  // Some servers put who made it before the name: `meta-llama/llama-3.1-8b`.
  const name = model.toLowerCase().replace(/^.*\//, '');
  return WINDOWS.find(([begins]) => begins.test(name))?.[1] ?? DEFAULT_WINDOW;
}

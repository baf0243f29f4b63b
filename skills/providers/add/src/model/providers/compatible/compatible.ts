import { z } from 'zod';
import { Address } from '../../../lib/setting-values.ts';
import type { Environment } from '../../../lib/settings.ts';
import type { ReadModels } from '../../catalog/listed-model.ts';
import {
  type Abilities,
  defineProvider,
  type ModelServer,
  type Prices,
  type ProviderContribution,
} from '../../provider.ts';
import { chatCompletions } from '../chat-completions-protocol.ts';
import { type Dialect, rewrite } from './dialect.ts';
import { HeaderList, headersIn } from './headers.ts';
import { modelTable } from './model-table.ts';
import { countsIn } from './token-counts.ts';

/** A provider of models whose servers speak chat completions, as its file describes it. */
export type CompatibleProvider = {
  readonly name: string;
  readonly order: number;
  /** The provider's name for people. */
  readonly label: string;
  /** The beginning of its settings: `GROQ` of `GROQ_API_KEY`. */
  readonly settings: string;
  /** Its address; null where only the owner knows it. */
  readonly address: string | null;
  /** The place where its keys are made, as the end of a sentence. */
  readonly keyMadeIn: string;
  readonly isKeyNeeded?: boolean;
  /** The address that `claw setup` proposes, where it asks for one. */
  readonly proposedAddress?: string;
  /** True for a server on the owner's machine, which is not asked for its models before its address is set. */
  readonly isLocal?: boolean;
  /** The file of its models' prices and windows, beside this one; none for models that cost nothing known. */
  readonly table?: string;
  /** Tells which of its models cost nothing: those that run on the owner's machine. */
  readonly isFree?: (model: string) => boolean;
  /** The window of a model that neither the table nor its server tells. */
  readonly usualContext?: number;
  /** Settings beside key, address and headers. */
  readonly furtherSettings?: z.ZodRawShape;
  readonly dialect?: Dialect;
  readonly modelsIn?: ReadModels;
  readonly listsPrices?: boolean;
  readonly abilitiesOf?: (model: string) => Partial<Abilities>;
  readonly prefixesIn?: (environment: Environment) => readonly string[];
};

/** Defines such a provider: its key, its address and further headers are settings of its own. */
export function defineCompatible(given: CompatibleProvider): ProviderContribution {
  const {
    name,
    address,
    isKeyNeeded = true,
    dialect = {},
    modelsIn,
    abilitiesOf,
    prefixesIn,
  } = given;
  const names = settingNames(given);
  const table =
    given.table === undefined ? null : modelTable(`${import.meta.dirname}/${given.table}`);
  return defineProvider({
    name,
    order: given.order,
    prefixes: [`${name}/`],
    protocol: chatCompletions,
    settings: z.object({
      [names.key]: z.string().optional(),
      [names.address]: Address.optional(),
      [names.headers]: HeaderList,
      ...given.furtherSettings,
    }),
    setup: {
      label: given.label,
      keySetting: names.key,
      keyMadeIn: given.keyMadeIn,
      isKeyNeeded,
      addressSetting: names.address,
      proposedAddress: given.proposedAddress ?? null,
    },
    countsIn,
    adapt: (request) => rewrite(request, dialect),
    listsPrices: given.listsPrices === true,
    ...(modelsIn && { modelsIn }),
    ...(abilitiesOf && { abilitiesOf }),
    ...(prefixesIn && { prefixesIn }),
    ...pricesOf(given, table?.prices ?? null),
    contextTokensOf: (model) => table?.contextTokensOf(model) ?? given.usualContext ?? null,
    create: ({ settings, read }) =>
      serverOf(given, { ownAddress: settings[names.address], read, address }),
  });
}

const NOTHING = { input: 0, output: 0, cacheWrite: 0, cacheRead: 0 };

function pricesOf({ isFree }: CompatibleProvider, listed: Prices | null): { prices?: Prices } {
  if (isFree !== undefined) {
    return { prices: { asOf: '2025-11-30', of: (model) => (isFree(model) ? NOTHING : null) } };
  }
  return listed === null ? {} : { prices: listed };
}

type ServerParts = {
  readonly ownAddress: unknown;
  readonly address: string | null;
  readonly read: (setting: string) => string | undefined;
};

function serverOf(
  given: CompatibleProvider,
  { ownAddress, address, read }: ServerParts,
): ModelServer {
  const { label, isKeyNeeded = true, isLocal = false, name } = given;
  const names = settingNames(given);
  const key = () => read(names.key);
  const ownHeaders = () => headersIn(read(names.headers));
  const baseUrl = typeof ownAddress === 'string' ? ownAddress : address;
  return {
    // No name of a host ends in .invalid; `problem` keeps it from being asked.
    baseUrl: baseUrl ?? 'http://not-set.invalid/v1',
    headers() {
      const now = key();
      return { ...(now === undefined ? {} : { authorization: `Bearer ${now}` }), ...ownHeaders() };
    },
    secrets: () => [
      ...(key() === undefined ? [] : [String(key())]),
      ...Object.values(ownHeaders()),
    ],
    isSetUp: () => key() !== undefined || (isLocal && typeof ownAddress === 'string'),
    problem() {
      if (baseUrl === null) {
        return `${label} has no address yet. Set ${names.address} in .env, or run \`npx claw setup --provider ${name}\`.`;
      }
      if (!isKeyNeeded || key() !== undefined || hasOwnKey(ownHeaders())) return null;
      return `There is no key for ${label} yet. Set ${names.key} in .env, or run \`npx claw setup --provider ${name}\`.`;
    },
  };
}

/** Some gateways take the key in a header of their own. */
function hasOwnKey(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => /^(authorization|api-key|x-api-key)$/i.test(name));
}

function settingNames({ settings }: CompatibleProvider) {
  const prefix = settings;
  return { key: `${prefix}_API_KEY`, address: `${prefix}_BASE_URL`, headers: `${prefix}_HEADERS` };
}

import type { InstalledProvider, Models } from '../model.ts';
import { findProvider } from '../provider.ts';
import { askForList, type ModelList, type Timeout } from './ask-for-list.ts';
import { isListed, nearestModel } from './nearest-model.ts';

/** Time for which a list counts; and for which one that tells what there is now does, or a server that gave none. */
const FRESH_MS = 600_000;
const AGAIN_MS = 30_000;

/** The models of a provider as its server lists them. */
export type ProviderModels = {
  readonly provider: string;
  /** Names of its models with the prefix; none where there is no list. */
  readonly names: readonly string[];
  /** A sentence about why there is no list; null where there is one. */
  readonly problem: string | null;
};

/** The place of a model in its provider's list. */
export type Listing =
  | { readonly kind: 'listed' }
  /** `nearest` is the listed model whose name comes nearest; null where none does. */
  | { readonly kind: 'missing'; readonly nearest: string | null }
  /** There is no list to look at. */
  | { readonly kind: 'unknown'; readonly problem: string };

/** The models that servers list, asked for when they are needed and kept for a while. */
export interface Catalog {
  /** Returns the lists of all providers that are set up. Never rejects, and takes a bounded time. */
  lists(at?: At): Promise<readonly ProviderModels[]>;
  /** Looks a model up in its provider's list, by its name with the prefix. */
  look(name: string, at?: At): Promise<Listing>;
}

/** With `now`, a list that is some minutes old does not count: a model may be gone since. */
type At = 'now';
type CachedList = {
  readonly list: Promise<ModelList>;
  readonly askedAt: number;
  readonly freshMs: () => number;
};

/** Opens the catalog. What lists tell of models, `models` learns. */
export function openCatalog({
  models,
  now,
  timeout,
}: {
  readonly models: Models;
  readonly now: () => number;
  /** The clock that ends a wait for one server. */
  readonly timeout?: Timeout;
}): Catalog {
  const kept = new Map<string, CachedList>();

  function listOf({ provider, server }: InstalledProvider, at?: At): Promise<ModelList> {
    const known = kept.get(provider.name);
    if (known !== undefined) {
      const freshMs = at === 'now' ? AGAIN_MS : known.freshMs();
      if (now() - known.askedAt < freshMs) return known.list;
    }
    const askedAt = now();
    let freshMs = FRESH_MS;
    const list = askForList(provider, server, timeout).then((found) => {
      if (found.kind === 'none') freshMs = AGAIN_MS;
      else
        models.learn(found.models.map((model) => ({ ...model, id: idOf(provider, model.name) })));
      return found;
    });
    kept.set(provider.name, { list, askedAt, freshMs: () => freshMs });
    return list;
  }

  async function namesOf(installed: InstalledProvider, at?: At): Promise<ProviderModels> {
    const { provider } = installed;
    const list = await listOf(installed, at);
    if (list.kind === 'none') return { provider: provider.name, names: [], problem: list.message };
    const names = list.models.map(({ name }) => idOf(provider, name));
    return { provider: provider.name, names, problem: null };
  }

  return {
    lists(at) {
      const asked = models.providers.filter(
        ({ server }) => server.isSetUp?.() !== false && server.problem() === null,
      );
      return Promise.all(asked.map((installed) => namesOf(installed, at)));
    },
    async look(name, at) {
      const named = findProvider(
        models.providers.map(({ provider }) => provider),
        name,
      );
      const installed = models.providers.find(({ provider }) => provider === named?.provider);
      if (named === null || installed === undefined) {
        return { kind: 'unknown', problem: 'No provider here has it.' };
      }
      const { names, problem } = await namesOf(installed, at);
      if (problem !== null) return { kind: 'unknown', problem };
      if (isListed(name, names)) return { kind: 'listed' };
      return { kind: 'missing', nearest: nearestModel(name, names) };
    },
  };
}

function idOf({ prefixes }: InstalledProvider['provider'], name: string): string {
  return `${prefixes[0]}${name}`;
}

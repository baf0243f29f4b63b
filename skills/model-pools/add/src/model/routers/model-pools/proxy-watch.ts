import type { PoolModel } from '../../../lib/model-pools.ts';
import type { ModelFailure } from '../../failure.ts';

/** Time for which a proxy that could not be reached is left alone. */
const RETRY_MS = 60_000;

/** The state of the server through which most models are asked. It is never asked for it: only failures tell. */
export interface ProxyWatch {
  /** Tells whether a model is asked through the proxy. */
  leadsTo(name: string): boolean;
  isDown(): boolean;
  /**
   * Returns the models to ask now: while the proxy is down none of its own where there are others, and for a
   * summary never one of its own where there are others.
   */
  usable(models: readonly PoolModel[], work: { readonly isSummary: boolean }): readonly PoolModel[];
  /** Notes a failure. Returns true where the proxy is down by it. */
  failed(name: string, failure: ModelFailure): boolean;
  /** Notes that a model answers: where it is one of the proxy's, that is back. */
  answered(name: string): void;
  /** Returns the line for a chat whose models answer without the proxy; null once it was told, or for nothing. */
  noticeFor(folder: string, models: readonly PoolModel[]): string | null;
}

/** Watches the proxy whose models begin with a prefix; null where there is none. */
export function watchProxy(prefix: string | null, now: () => number): ProxyWatch {
  /** Null while it is up. After `until` it is tried again, and is down until it answers. */
  let down: { until: number } | null = null;
  const told = new Set<string>();
  const leadsTo = (name: string): boolean => prefix !== null && name.startsWith(prefix);

  return {
    leadsTo,
    isDown: () => down !== null,
    usable(models, { isSummary }) {
      const isLeftAlone = down !== null && now() < down.until;
      const others = models.filter(({ name }) => !leadsTo(name));
      return (isLeftAlone || isSummary) && others.length > 0 ? others : models;
    },
    failed(name, { reason }) {
      if (!leadsTo(name)) return false;
      if (reason !== 'down') {
        // It is there, and says what is wrong.
        down = null;
        return false;
      }
      down = { until: now() + RETRY_MS };
      return true;
    },
    answered(name) {
      if (!leadsTo(name)) return;
      down = null;
      told.clear();
    },
    noticeFor(folder, models) {
      const hasOthers = models.some(({ name }) => !leadsTo(name));
      if (down === null || now() >= down.until || !hasOthers || told.has(folder)) return null;
      told.add(folder);
      return `(The model proxy cannot be reached, so tools are off: what follows is answered without them. I try it again each minute.)`;
    },
  };
}

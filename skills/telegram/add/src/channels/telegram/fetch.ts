import type { Api } from 'grammy';

type ApiOptions = NonNullable<ConstructorParameters<typeof Api>[1]>;
type GrammyFetch = NonNullable<ApiOptions['fetch']>;

/**
 * Node's own `fetch` for requests without files, in place of the one that grammY brings: that one does not notice a line
 * which is cut in the middle of an answer, and waits until its time is over.
 */
export const plainFetch = ((address: string, { signal, ...init }: RequestInit) => {
  // grammY's signals are a polyfill's, which Node does not take.
  const stop = new AbortController();
  if (signal?.aborted) stop.abort();
  signal?.addEventListener('abort', () => stop.abort(), { once: true });
  return fetch(address, { ...init, signal: stop.signal });
}) as unknown as GrammyFetch;

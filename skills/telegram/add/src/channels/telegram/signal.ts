import type { Api } from 'grammy/web';

/** The type that grammY declares for signals: that of a polyfill that it brings along. It takes Node's too. */
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

/** Node's signal, to cancel a request of grammY with. */
export function forGrammy(signal: AbortSignal): GrammySignal {
  return signal as unknown as GrammySignal;
}

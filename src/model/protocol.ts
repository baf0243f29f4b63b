import type { IncomingHttpHeaders } from 'node:http';
import type { ReadModels } from './catalog/listed-model.ts';
import type { FittedRequest } from './fit/fitted-request.ts';
import type { HeadEvent } from './stream-head.ts';
import type { TokenCounts } from './tokens.ts';

/** Names of the protocols that the agent in its container speaks. */
export type ProtocolName = 'messages' | 'chat-completions';

type RequestFields = Readonly<Record<string, unknown>>;

/**
 * A protocol that several providers may share: what may be asked in it, and how its answers are read.
 *
 * An agent speaks it on its socket; a provider says only where its requests go, and with which key.
 */
export type Protocol = {
  readonly name: ProtocolName;
  /** The calls that an agent may make, as paths on its socket; the first is the one that asks the model. */
  readonly paths: readonly [string, ...string[]];
  /** The paths whose calls cost nothing. */
  readonly freePaths: readonly string[];
  /** The longest answer that is asked for where the server tells no other; null where a request needs no limit. */
  readonly usualAnswerTokens: number | null;
  /** The usual end of such a server's address, which owners often forget; null where there is none. */
  readonly usualEnd: string | null;
  /** Returns where a call goes: the address as the owner wrote it, with one of `paths`. */
  urlOf(baseUrl: string, path: string): URL;
  /** Returns where such a server lists its models. */
  listUrl(baseUrl: string): URL;
  readonly modelsIn: ReadModels;
  /** Returns the headers of an agent's request that go on. Never one that holds a key. */
  headersOf(given: IncomingHttpHeaders): Readonly<Record<string, string>>;
  /** Returns one sentence about what must not go on to the model's server; null where all of it may. */
  problemOf(request: RequestFields): string | null;
  /** Returns the request with what makes the server tell its token counts. */
  withCounts(request: RequestFields): RequestFields;
  /** Rewrites a request for the servers of the protocol, whatever other models have left in its conversation. */
  fit(request: RequestFields): FittedRequest;
  /** Returns the request with what makes the server keep its beginning in a cache. */
  withCache(request: RequestFields): RequestFields;
  /** Returns the request for a model that cannot call tools, or may not. */
  withoutTools(request: RequestFields): RequestFields;
  /** Returns a request without its model's name: one question of the host's own. */
  question(prompt: { readonly system?: string; readonly user: string }): RequestFields;
  /** The shortest question, for whether a model answers at all. */
  readonly probe: RequestFields;
  /** Tells whether an answer is one of a model's. */
  isAnswer(body: unknown): boolean;
  /** Returns what the model said; null where the answer is none of a model's. */
  textIn(body: unknown): string | null;
  /** Returns the meaning of an event at the head of a stream, where an error can still be a refusal. */
  headEventOf(event: unknown): HeadEvent;
  /** Returns the token counts in one event of a stream, or in a whole answer; null where it holds none. */
  countsIn(event: unknown): TokenCounts | null;
};

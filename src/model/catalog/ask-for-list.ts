import { type JsonBounds, readJson } from '../../lib/bounded-json.ts';
import { connectionFailure } from '../failure.ts';
import type { ModelServer, ProviderContribution } from '../provider.ts';
import { readText } from '../upstream-request.ts';
import type { ListedModel } from './listed-model.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 8_388_608;
const LIST_BOUNDS: JsonBounds = { maxBytes: MAX_BYTES, maxValues: 200_000, maxDepth: 20 };

/** The list of a provider's models as its server gave it, or a sentence that says why there is none. */
export type ModelList =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | NoList;

type NoList = {
  readonly kind: 'none';
  readonly message: string;
  /** True where the server answered and has no such list. */
  readonly isUnknown: boolean;
  /** True where no call with this key can work; another key may list nothing, and answer all the same. */
  readonly isKeyRefused: boolean;
};

/** Returns a signal that aborts with a `TimeoutError` after so many milliseconds. */
export type Timeout = (ms: number) => AbortSignal;

/** Asks a provider's server for its models, in a bounded time. Never rejects. */
export async function askForList(
  provider: Pick<ProviderContribution, 'protocol' | 'modelsIn'>,
  server: ModelServer,
  timeout: Timeout = AbortSignal.timeout,
): Promise<ModelList> {
  const problem = server.problem();
  if (problem !== null) return none(problem);
  const where = new URL(server.baseUrl).host;
  try {
    const answer = await fetch(server.listUrl?.() ?? provider.protocol.listUrl(server.baseUrl), {
      headers: {
        accept: 'application/json',
        ...provider.protocol.headersOf({}),
        ...(await server.headers()),
      },
      // Another host would be shown the key.
      redirect: 'manual',
      signal: timeout(TIMEOUT_MS),
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      return refusal(where, answer.status);
    }
    const text = await readText(answer, MAX_BYTES);
    if (text === null) return none(`The list of models of ${where} is longer than 8 MB.`);
    const list = await readJson(Buffer.from(text), LIST_BOUNDS);
    if (list.kind === 'refused') return none(`${where} answered with no list of models.`);
    const models = (provider.modelsIn ?? provider.protocol.modelsIn)(list.value);
    if (models === null) return none(`${where} answered with no list of models.`);
    if (models.length > 0) return { kind: 'listed', models };
    return none(`${where} lists no model that takes a conversation.`);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return none(`${where} gave no list of models within ${TIMEOUT_MS / 1000} s.`);
    }
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return none(connectionFailure({ server }, cause).message);
  }
}

function refusal(where: string, status: number): NoList {
  if (status === 401 || status === 403) {
    const message = `${where} refused the API key (${status}). Set another with \`npx claw setup\`.`;
    return { ...none(message), isKeyRefused: status === 401 };
  }
  if (status === 404 || status === 405 || status === 501) {
    return { ...none(`${where} has no list of models (${status}).`), isUnknown: true };
  }
  return none(`${where} gave no list of models (${status}).`);
}

function none(message: string): NoList {
  return { kind: 'none', message, isUnknown: false, isKeyRefused: false };
}

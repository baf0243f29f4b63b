import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, type LanguageModel, wrapLanguageModel } from 'ai';
import { ASK_NEXT_RUN, RUN_HEADER, WORK_HEADER } from '../../src/lib/model-call.ts';
import { endpointIn } from '../../src/sandbox/protocol/endpoint.ts';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import { HOST_SOCKET } from '../../src/sandbox/protocol/protocol.ts';
import { withBoundedCalls } from './bounded-calls.ts';
import { socketFetch } from './host/socket-fetch.ts';
import { withPlainAnswers } from './plain-answers.ts';

/** The address of the model on the host's socket; there is no real host of this name. */
const BASE_URL = 'http://model.invalid/v1';

/** A model as the libraries make it: with its methods, not by its name. */
export type CallableModel = Exclude<LanguageModel, string>;

/** A model as the two libraries of protocols make it. */
type ProtocolModel = ReturnType<ReturnType<typeof createAnthropic>>;
type Run = NonNullable<TurnFrame['model']['next']>[number];
type Side = keyof NonNullable<TurnFrame['model']['side']>;

/**
 * Returns the model of a turn, or that for a part of its work. Its calls go to the host, which knows the addresses
 * and adds the keys. Where none of the models of one protocol answers, the host says so, and those of the next
 * protocol are asked.
 */
export function languageModel(turn: TurnFrame['model'], work: Side | null = null): CallableModel {
  const own = work === null ? undefined : turn.side?.[work];
  const runs: readonly Run[] = own ?? [turn, ...(turn.next ?? [])];
  const [first, ...others] = runs.map((run, at) =>
    withPlainAnswers({
      model: modelOfRun(run, { work, at }),
      answerTokens: run.answerTokens,
      temperature: work === 'summary' ? undefined : turn.temperature,
    }),
  );
  if (first === undefined) throw new TypeError('The turn has no model.');
  return withBoundedCalls(others.length === 0 ? first : inTurn([first, ...others]));
}

function modelOfRun(
  { protocol, model }: Run,
  { work, at }: { readonly work: Side | null; readonly at: number },
): ProtocolModel {
  const endpoint = endpointIn(process.env);
  const fetch = socketFetch(endpoint.kind === 'tcp' ? endpoint : HOST_SOCKET);
  const headers = {
    ...(work === null ? {} : { [WORK_HEADER]: work }),
    ...(at === 0 ? {} : { [RUN_HEADER]: String(at) }),
  };
  // The libraries want a key; the host drops this one.
  const settings = { baseURL: BASE_URL, apiKey: 'added-by-the-host', fetch, headers };
  if (protocol === 'messages') return createAnthropic(settings)(model);
  const textFetch = withTextArguments(fetch);
  return createOpenAICompatible({
    ...settings,
    fetch: textFetch,
    name: 'openai',
    includeUsage: true,
  })(model);
}

/** A call whose input came as an object, where the protocol has a text that holds one. */
const AS_OBJECT = /"arguments"\s*:\s*\{/;

/** Returns a `fetch` for chat completions in whose answers the input of calls is a text, also where a server sends an object. */
function withTextArguments(plain: typeof fetch): typeof fetch {
  return async (input, init) => {
    const answer = await plain(input, init);
    if (answer.body === null || !answer.ok) return answer;
    const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream');
    const body = answer.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(byLine(isStream))
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

/** Rewrites each event of a stream, or the answer as a whole. */
function byLine(isStream: boolean): TransformStream<string, string> {
  let pending = '';
  return new TransformStream({
    transform(chunk, controller) {
      pending += chunk;
      const end = isStream ? pending.lastIndexOf('\n') : -1;
      if (end === -1) return;
      const lines = pending.slice(0, end + 1);
      pending = pending.slice(end + 1);
      controller.enqueue(AS_OBJECT.test(lines) ? lines.split('\n').map(lineOf).join('\n') : lines);
    },
    flush: (controller) => controller.enqueue(lineOf(pending)),
  });
}

function lineOf(line: string): string {
  if (!AS_OBJECT.test(line)) return line;
  const [, head = '', json = ''] = /^(data:\s*)?(.*)$/s.exec(line) ?? [];
  try {
    return head + JSON.stringify(JSON.parse(json), asText);
  } catch {
    // The reader of the answer says what is wrong with it.
    return line;
  }
}

function asText(this: unknown, key: string, value: unknown): unknown {
  const isInput = key === 'arguments' && typeof value === 'object' && value !== null;
  // Only a call has a name beside its input.
  const isCall = typeof this === 'object' && this !== null && 'name' in this;
  return isInput && isCall ? JSON.stringify(value) : value;
}

/** Asks one model after the other, until the host does not say that the next is to be asked. */
function inTurn(models: readonly [ProtocolModel, ...ProtocolModel[]]): CallableModel {
  const [first] = models;
  async function ask<T>(call: (model: ProtocolModel) => PromiseLike<T>): Promise<T> {
    for (const model of models.slice(0, -1)) {
      try {
        return await call(model);
      } catch (error) {
        if (!APICallError.isInstance(error) || error.statusCode !== ASK_NEXT_RUN) throw error;
      }
    }
    return await call(models.at(-1) ?? first);
  }
  return wrapLanguageModel({
    model: first,
    middleware: {
      specificationVersion: 'v4',
      wrapStream: ({ params }) => ask((model) => model.doStream(params)),
      wrapGenerate: ({ params }) => ask((model) => model.doGenerate(params)),
    },
  });
}

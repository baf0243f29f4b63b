import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { endpointIn } from '../../src/sandbox/protocol/endpoint.ts';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import { HOST_SOCKET } from '../../src/sandbox/protocol/protocol.ts';
import { socketFetch } from './socket-fetch.ts';

/** The address of the model on the host's socket; there is no real host of this name. */
const BASE_URL = 'http://model.invalid/v1';

/** A model as the libraries make it: with its methods, not by its name. */
export type CallableModel = Exclude<LanguageModel, string>;

/** Returns the model of a turn. Its calls go to the host, which knows the address and adds the key. */
export function languageModel({ protocol, model }: TurnFrame['model']): CallableModel {
  const endpoint = endpointIn(process.env);
  const fetch = socketFetch(endpoint.kind === 'tcp' ? endpoint : HOST_SOCKET);
  // The libraries want a key; the host drops this one.
  const settings = { baseURL: BASE_URL, apiKey: 'added-by-the-host', fetch };
  if (protocol === 'messages') return createAnthropic(settings)(model);
  return createOpenAICompatible({ ...settings, name: 'openai', includeUsage: true })(model);
}

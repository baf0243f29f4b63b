import type { Environment } from '../../lib/settings.ts';
import { type Model, openModels } from '../../model/model.ts';
import { provider as anthropic } from '../../model/providers/anthropic.ts';
import { provider as openai } from '../../model/providers/openai.ts';

export type TestModelParts = {
  readonly provider?: 'anthropic' | 'openai';
  readonly name?: string;
  readonly baseUrl?: string;
  /** Null for none. */
  readonly key?: string | null;
  readonly contextTokens?: number | null;
};

/** Opens a model of one of the core's providers, at an address of the test's. */
export function testModel(parts: TestModelParts = {}): Model {
  const { provider = 'anthropic', name = 'claude-test', baseUrl, key = 'sk-1' } = parts;
  const prefix = provider.toUpperCase();
  const environment: Environment = {
    ...(key === null ? {} : { [`${prefix}_API_KEY`]: key }),
    [`${prefix}_BASE_URL`]: baseUrl,
  };
  const settings = {
    model: `${provider}/${name}`,
    modelContext: parts.contextTokens ?? null,
    modelPrice: null,
  };
  const { configured } = openModels([anthropic, openai], environment, { settings });
  if (configured === null) throw new Error(`no model at ${baseUrl}`);
  return configured;
}

import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ClawError } from '../../engine/commands.ts';
import { problemOfAddress } from '../../lib/setting-values.ts';
import { completeOnce } from '../../model/completion.ts';
import type { Invocation } from '../verb.ts';
import { type Answers, type Asking, askForModel, dropTyped, type Provider } from './ask.ts';
import { setInDotenv } from './dotenv.ts';
import { environmentOf, settingsOf } from './settings.ts';

/** What the model's set-up needs to know; what is not given is asked for. */
export type SetupOptions = {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
};

/**
 * Asks for a model's key, makes one real completion with it, and only then writes `.env` (mode 0600).
 * What the model's server refuses is asked for again. Without a terminal, the key is the first line of
 * standard input, and a refusal is the end.
 *
 * @throws ClawError USAGE, INTERRUPTED, MODEL_REFUSED with what the model's server said; `.env` is then as before
 */
export async function setUpModel(
  invocation: Invocation,
  options: SetupOptions,
): Promise<ModelSetUp> {
  const { root, ui } = invocation;
  const given = givenIn(options);
  if (process.stdin.isTTY !== true) {
    const result = await tryOut(invocation, await readPiped(given));
    if (result.kind === 'refused') {
      throw new ClawError('MODEL_REFUSED', `${result.message} Nothing was written.`);
    }
    return result.model;
  }
  const hasKey = (provider: Provider): boolean =>
    Boolean(environmentOf(root)[provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY']);
  for (let refused: Answers | null = null; ; ) {
    const answers = await askForModel({ given, refused, hasKey });
    const tried = await tryOut(invocation, answers);
    if (tried.kind === 'works') return tried.model;
    ui.stop(false);
    const { log } = await import('@clack/prompts');
    log.error(`${tried.message} Nothing was written. Once more, or Ctrl-C to leave it.`, {
      output: process.stderr,
    });
    await dropTyped();
    refused = answers;
  }
}

/** The model that answers now, and the files that were written for it. */
export type ModelSetUp = { readonly model: string; readonly written: readonly string[] };

type Tried =
  | { readonly kind: 'works'; readonly model: ModelSetUp }
  | { readonly kind: 'refused'; readonly message: string };

/** Asks the model for one word, and only after that writes `.env`. */
async function tryOut({ root, ui }: Invocation, answers: Answers): Promise<Tried> {
  const before = environmentOf(root);
  const values = answeredEnvironment(answers, before['MODEL'] ?? '');
  const settings = settingsOf({ ...before, ...values }, root);
  ui.progress({ kind: 'step', text: `Asking ${settings.model.model} for one word` });
  const completion = await completeOnce(settings.model);
  if (!completion.ok) return { kind: 'refused', message: completion.message };
  ui.progress({ kind: 'done', text: 'The model answers' });
  setInDotenv(join(root, '.env'), values);
  const { provider, model } = settings.model;
  return { kind: 'works', model: { model: `${provider}/${model}`, written: ['.env'] } };
}

/** @throws ClawError USAGE for what was given and makes no sense, before anything is asked */
function givenIn({ provider, baseUrl, model }: SetupOptions): Asking['given'] {
  const problem = baseUrl === undefined ? null : problemOfAddress(baseUrl);
  if (problem !== null) throw new ClawError('USAGE', `--base-url ${baseUrl}: ${problem}`);
  return {
    provider: provider === undefined ? null : providerOf(provider),
    baseUrl: baseUrl ?? null,
    model: model ?? null,
  };
}

async function readPiped({ provider, baseUrl, model }: Asking['given']): Promise<Answers> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    return { provider: provider ?? 'anthropic', key: line.trim(), baseUrl, model };
  }
  throw new ClawError('USAGE', 'No key came in. Pipe it: claw setup < file-with-the-key');
}

function providerOf(name: string): Provider {
  if (name === 'anthropic' || name === 'openai') return name;
  throw new ClawError('USAGE', `The provider is anthropic or openai, not "${name}".`);
}

function answeredEnvironment(
  { provider, key, baseUrl, model }: Answers,
  modelBefore: string,
): Record<string, string> {
  const prefix = provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI';
  if (provider === 'openai' && model === null) {
    throw new ClawError(
      'USAGE',
      'Name the model as well: claw setup --provider openai --model NAME',
    );
  }
  return {
    ...(key === '' ? {} : { [`${prefix}_API_KEY`]: key }),
    ...(baseUrl === null ? {} : { [`${prefix}_BASE_URL`]: baseUrl }),
    ...modelOf(provider, model, modelBefore),
  };
}

function modelOf(
  provider: Answers['provider'],
  model: string | null,
  modelBefore: string,
): Record<string, string> {
  if (model !== null) return { MODEL: `${provider}/${model}` };
  // Another provider's model would be asked with this key: back to the default.
  return modelBefore !== '' && !modelBefore.startsWith(`${provider}/`) ? { MODEL: '' } : {};
}

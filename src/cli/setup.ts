import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ClawError, type VerbResult } from '../engine/index.ts';
import { completeOnce } from '../sandbox/completion.ts';
import { setInDotenv } from './dotenv.ts';
import type { Invocation } from './main.ts';
import { environmentOf, settingsOf } from './settings.ts';

/** What the model's set-up needs to know; what is not given is asked for. */
export type SetupOptions = {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
};

type Answers = {
  readonly provider: 'anthropic' | 'openai';
  readonly key: string;
  readonly baseUrl: string | null;
  readonly model: string | null;
};

/**
 * Asks for a model's key, makes one real completion with it, and only then writes `.env` (mode 0600).
 * Without a terminal, the key is the first line of standard input.
 *
 * @throws ClawError USAGE, MODEL_REFUSED with what the model's server said; `.env` is then as before
 */
export async function setUpModel(
  invocation: Invocation,
  options: SetupOptions,
): Promise<VerbResult> {
  const { root, ui } = invocation;
  const answers = process.stdin.isTTY ? await ask(options) : await readPiped(options);
  const before = environmentOf(root);
  const values = answeredEnvironment(answers, before['MODEL'] ?? '');
  const settings = settingsOf({ ...before, ...values }, root);
  ui.progress({ kind: 'step', text: `Asking ${settings.model.model} for one word` });
  const completion = await completeOnce(settings.model);
  if (!completion.ok)
    throw new ClawError('MODEL_REFUSED', `${completion.message} Nothing was written.`);
  ui.progress({ kind: 'done', text: 'The model answers' });
  setInDotenv(join(root, '.env'), values);
  const { provider, model } = settings.model;
  return {
    verb: 'setup',
    outcome: 'done',
    data: { model: `${provider}/${model}`, written: ['.env'] },
    changes: [],
    conflicts: [],
    warnings: [],
    error: null,
  };
}

async function ask(options: SetupOptions): Promise<Answers> {
  const { isCancel, password, select, text } = await import('@clack/prompts');
  const output = process.stderr;
  const given = <T>(answer: T): Exclude<T, symbol> => {
    if (isCancel(answer)) throw new ClawError('USAGE', 'Set-up left; nothing was written.');
    return answer as Exclude<T, symbol>;
  };
  const provider =
    options.provider !== undefined
      ? providerOf(options.provider)
      : given(
          await select({
            message: 'Which model shall answer?',
            options: [
              { value: 'anthropic' as const, label: 'Claude, by an Anthropic key' },
              { value: 'openai' as const, label: 'any server that speaks the OpenAI protocol' },
            ],
            output,
          }),
        );
  const isOpen = provider === 'openai';
  const address = 'https://api.openai.com/v1';
  const baseUrl = isOpen
    ? (options.baseUrl ??
      given(await text({ message: 'Its address', initialValue: address, output })))
    : (options.baseUrl ?? null);
  const model = isOpen
    ? (options.model ?? given(await text({ message: 'The name of the model', output })))
    : (options.model ?? null);
  const made = isOpen ? 'the web console of its provider' : 'the Anthropic Console, under API keys';
  const message = `The key, made in ${made}`;
  const key = given(await password({ message, output }));
  return { provider, key: String(key).trim(), baseUrl, model };
}

async function readPiped(options: SetupOptions): Promise<Answers> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    return {
      provider: providerOf(options.provider ?? 'anthropic'),
      key: line.trim(),
      baseUrl: options.baseUrl ?? null,
      model: options.model ?? null,
    };
  }
  throw new ClawError('USAGE', 'No key came in. Pipe it: claw setup < file-with-the-key');
}

function providerOf(name: string): 'anthropic' | 'openai' {
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

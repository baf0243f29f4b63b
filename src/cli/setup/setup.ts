import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ClawError, type Invocation } from '@patchclaw/claw/cli';
import { problemOfAddress } from '../../lib/setting-values.ts';
import { skillToAddWith } from '../../lib/skill-packages.ts';
import { askForList, type ModelList } from '../../model/catalog/ask-for-list.ts';
import { completeOnce } from '../../model/completion.ts';
import {
  defaultModelOf,
  discoverProviders,
  findProvider,
  type ProviderContribution,
  withOwnPrefixes,
} from '../../model/provider.ts';
import { environmentOf } from '../environment.ts';
import { type Answers, type Asking, askForModel, dropTyped } from './ask.ts';
import { setInDotenv } from './dotenv.ts';
import { fittedAtBar } from './fitted-text.ts';
import { modelsIn, settingsOf } from './settings.ts';

/** The folder of the providers, in a tree. */
const FOLDER = 'src/model/providers';

/** Options of the model's set-up; it asks for each one that is missing. */
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
  const providers = withOwnPrefixes(await discoverProviders(), environmentOf(root));
  const given = givenIn(options, { root, providers });
  if (process.stdin.isTTY !== true) {
    const result = await tryOut(invocation, providers, await readPiped(given, providers));
    if (result.kind === 'refused') {
      throw new ClawError('MODEL_REFUSED', `${result.message} Nothing was written.`);
    }
    return result.model;
  }
  const hasKey = ({ setup }: ProviderContribution): boolean =>
    Boolean(environmentOf(root)[setup.keySetting]);
  for (let refused: Answers | null = null; ; ) {
    const { answers, refusal } = await askForModel({
      providers,
      given,
      refused,
      hasKey,
      listOf: (so) => listOf(invocation, providers, so),
    });
    const tried: Tried =
      refusal === null
        ? await tryOut(invocation, providers, answers)
        : { kind: 'refused', message: refusal };
    if (tried.kind === 'works') return tried.model;
    ui.stop(false);
    const { log } = await import('@patchclaw/claw/prompts');
    const message = `${tried.message} Nothing was written. Try again; Esc goes back, Ctrl-C leaves.`;
    log.error(fittedAtBar(message), { output: process.stderr });
    await dropTyped();
    refused = answers;
  }
}

/** Asks the provider's server for its models, as `.env` would be with these answers; null where it has no such provider. */
async function listOf(
  { root, ui }: Invocation,
  providers: readonly ProviderContribution[],
  answers: Answers,
): Promise<ModelList | null> {
  const before = environmentOf(root);
  const { provider, model } = answers;
  // A name is needed to write settings down; the list is that of the server, whatever it is.
  const named = { ...answers, model: model ?? provider.defaultModel ?? 'unnamed' };
  const values = answeredEnvironment(named, { providers, before: before['MODEL'] ?? '' });
  const environment = { ...before, ...values };
  const models = await modelsIn(environment, settingsOf(environment, root));
  const installed = models.providers.find((one) => one.provider.name === provider.name);
  if (installed === undefined) return null;
  ui.progress({ kind: 'step', text: 'Asking which models there are' });
  const list = await askForList(provider, installed.server);
  ui.stop(list.kind === 'listed');
  return list;
}

/** The model that answers now, the files that were written for it, and what they hold, in words. */
export type ModelSetUp = {
  readonly model: string;
  readonly written: readonly string[];
  readonly text: string;
};

type Tried =
  | { readonly kind: 'works'; readonly model: ModelSetUp }
  | { readonly kind: 'refused'; readonly message: string };

/** Asks the model for one word, and only after that writes `.env`. */
async function tryOut(
  { root, ui }: Invocation,
  providers: readonly ProviderContribution[],
  answers: Answers,
): Promise<Tried> {
  const before = environmentOf(root);
  const values = answeredEnvironment(answers, { providers, before: before['MODEL'] ?? '' });
  const environment = { ...before, ...values };
  const models = await modelsIn(environment, settingsOf(environment, root));
  const model = models.configured;
  if (model === null) throw new ClawError('USAGE', `${models.problem()} Nothing was written.`);
  ui.progress({ kind: 'step', text: `Trying the model ${model.name}` });
  const completion = await completeOnce(model);
  if (!completion.ok) return { kind: 'refused', message: completion.message };
  ui.progress({ kind: 'done', text: 'The model answers' });
  setInDotenv(join(root, '.env'), values);
  const text = model.server.secrets().length > 0 ? '.env holds the key' : '.env names it';
  return { kind: 'works', model: { model: model.id, written: ['.env'], text } };
}

/** The folder of the tree, and the providers that are in it. */
type Tree = { readonly root: string; readonly providers: readonly ProviderContribution[] };

/** @throws ClawError USAGE for what was given and makes no sense, before anything is asked */
function givenIn({ provider, baseUrl, model }: SetupOptions, tree: Tree): Asking['given'] {
  const problem = baseUrl === undefined ? null : problemOfAddress(baseUrl);
  if (problem !== null) throw new ClawError('USAGE', `--base-url ${baseUrl}: ${problem}`);
  return {
    provider: provider === undefined ? null : providerOf(provider, tree),
    baseUrl: baseUrl ?? null,
    model: model ?? null,
  };
}

async function readPiped(
  { provider: named, baseUrl, model }: Asking['given'],
  providers: readonly ProviderContribution[],
): Promise<Answers> {
  const provider = named ?? providers[0];
  if (provider === undefined) throw new ClawError('USAGE', 'This tree has no model provider.');
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    return { provider, key: line.trim(), baseUrl, model };
  }
  throw new ClawError('USAGE', 'No key came in. Pipe it: npx claw setup < file-with-the-key');
}

function providerOf(name: string, { root, providers }: Tree): ProviderContribution {
  const found = providers.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const names = providers.map((provider) => provider.name);
  const list = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ');
  // What is typed becomes part of a path here.
  const skill = /^[a-z][\w-]*$/.test(name) ? skillToAddWith(root, `${FOLDER}/${name}.ts`) : null;
  const how = skill === null ? '' : ` The skill ${skill} brings it: \`npx claw apply ${skill}\`.`;
  throw new ClawError('USAGE', `The provider is ${list}, not "${name}".${how}`);
}

/** The model of the settings before, and the providers of this tree. */
type SetupState = { readonly providers: readonly ProviderContribution[]; readonly before: string };

function answeredEnvironment(
  { provider, key, baseUrl, model }: Answers,
  known: SetupState,
): Record<string, string> {
  const { name, setup, defaultModel } = provider;
  if (defaultModel === undefined && model === null) {
    throw new ClawError(
      'USAGE',
      `Name the model as well: npx claw setup --provider ${name} --model NAME`,
    );
  }
  if (baseUrl !== null && setup.addressSetting === null) {
    throw new ClawError(
      'USAGE',
      `The provider ${name} has an address of its own: leave out --base-url.`,
    );
  }
  return {
    ...(key === '' ? {} : { [setup.keySetting]: key }),
    ...(baseUrl === null || setup.addressSetting === null
      ? {}
      : { [setup.addressSetting]: baseUrl }),
    ...modelOf(provider, model, known),
  };
}

function modelOf(
  { name, prefixes, defaultModel }: ProviderContribution,
  model: string | null,
  { providers, before }: SetupState,
): Record<string, string> {
  if (model !== null) return { MODEL: `${prefixes[0]}${model}` };
  const ownDefault = `${prefixes[0]}${defaultModel}`;
  const named = before === '' ? defaultModelOf(providers) : before;
  if (named !== null && findProvider(providers, named)?.provider.name === name) return {};
  // Another provider's model would be asked with this key: back to the default.
  return { MODEL: ownDefault === defaultModelOf(providers) ? '' : ownDefault };
}

import { ClawError } from '@patchclaw/claw/cli';
import { problemOfAddress } from '../../lib/setting-values.ts';
import type { ModelList } from '../../model/catalog/ask-for-list.ts';
import { problemOfServer } from '../../model/completion.ts';
import type { ProviderContribution } from '../../model/provider.ts';
import { fittedAtBar, fittedQuestion } from './fitted-text.ts';

/** Answers about a model so far; null for a question that has no answer yet. */
export type Answers = {
  readonly provider: ProviderContribution;
  readonly key: string;
  readonly baseUrl: string | null;
  readonly model: string | null;
};

export type Asking = {
  readonly providers: readonly ProviderContribution[];
  /** Answers from the command line, whose questions are left out. */
  readonly given: {
    readonly provider: ProviderContribution | null;
    readonly baseUrl: string | null;
    readonly model: string | null;
  };
  /** Answers that the server refused: the key is asked for again, and Esc leads to the questions before it. */
  readonly refused: Answers | null;
  /** Asks the provider's server for its models, with these answers; null where there is no such server. */
  readonly listOf: (answers: Answers) => Promise<ModelList | null>;
  /** Tells whether a key is set already, so that an empty answer keeps it. */
  readonly hasKey: (provider: ProviderContribution) => boolean;
};

/** The answers, and the words of a server that refused their key: no model was asked for then. */
type AnsweredQuestions = { readonly answers: Answers; readonly refusal: string | null };

/** The questions, in their order. */
const STEPS = ['service', 'address', 'key', 'model'] as const;
type Step = (typeof STEPS)[number];

/** The answer to a question that the owner left with Esc. */
const BACK = Symbol('back');

/**
 * Asks for a model on the terminal. Each answer is checked when it is given, and asked for again. Esc goes back to the
 * question before.
 *
 * @throws ClawError INTERRUPTED when the owner leaves
 */
export async function askForModel(asking: Asking): Promise<AnsweredQuestions> {
  const { providers, given, refused, listOf, hasKey } = asking;
  const { log } = await import('@patchclaw/claw/prompts');
  const services = servicesOf(providers, given.provider);
  const known = refused?.provider ?? given.provider;
  let service = serviceOf(services, known, refused?.baseUrl ?? given.baseUrl);
  let baseUrl = refused?.baseUrl ?? given.baseUrl ?? service?.address ?? null;
  let key = refused?.key ?? '';
  let { model } = refused ?? given;

  const choosesService = services.length > 1 && (given.provider === null || given.baseUrl === null);
  const isAsked = (step: Step): boolean => {
    if (step === 'service') return service === null || choosesService;
    if (step === 'key') return service?.keyMadeIn !== null;
    if (step === 'model') return true;
    return given.baseUrl === null && service !== null && asksAddress(service);
  };
  const ask: Record<Step, () => Promise<AnsweredQuestions | typeof BACK | null>> = {
    async service() {
      const chosen = await askForService(services);
      if (chosen === BACK) return BACK;
      // A key that was typed for one service is not sent to another one.
      if (chosen !== service) key = '';
      [service, baseUrl, model] = [chosen, given.baseUrl ?? chosen.address, given.model];
      return null;
    },
    async address() {
      const typed = await askForAddress(service?.proposedAddress ?? '', baseUrl);
      if (typed !== BACK && typed !== baseUrl) key = '';
      if (typed !== BACK) baseUrl = typed;
      return typed === BACK ? BACK : null;
    },
    async key() {
      if (service === null) return null;
      const onEmpty = key ? 'typed' : hasKey(service.provider) ? 'set' : null;
      const typed = await askForKey(service, onEmpty);
      if (typed === BACK) return BACK;
      key = typed === '' ? key : typed;
      return null;
    },
    async model() {
      if (service === null) return null;
      const answers = { provider: service.provider, key, baseUrl, model };
      if (refused === null && model !== null) return { answers, refusal: null };
      const list = await listOf(answers);
      if (list?.kind === 'none' && list.isKeyRefused) return { answers, refusal: list.message };
      if (list?.kind === 'none' && service.keyMadeIn === null) {
        log.error(fittedAtBar(`${list.message} Start it, and choose it again.`), {
          output: process.stderr,
        });
        return BACK;
      }
      const named = await askForName(list, { model, usual: service.provider.defaultModel });
      return named === BACK ? BACK : { answers: { ...answers, model: named }, refusal: null };
    },
  };

  if (refused === null) log.info(fittedAtBar(WAYS), { output: process.stderr });
  let at = refused === null ? 0 : STEPS.indexOf('key');
  for (;;) {
    const step = STEPS[at] ?? 'model';
    const result = step === 'model' || isAsked(step) ? await ask[step]() : null;
    if (result === BACK) {
      at = STEPS.findLastIndex((before, index) => index < at && isAsked(before));
      if (at < 0) throw left();
    } else if (result === null) at += 1;
    else return result;
  }
}

const WAYS =
  'Esc goes back one question, Ctrl-C leaves. Nothing is written before the model has answered.';

/** An entry that people search the list for: a provider, or a service that one of its protocols reaches. */
type Service = {
  readonly provider: ProviderContribution;
  readonly label: string;
  /** Its address; null if it is asked for, or if the provider has none to choose. */
  readonly address: string | null;
  readonly proposedAddress: string | null;
  /** Null if it takes no key. */
  readonly keyMadeIn: string | null;
  readonly isKeyNeeded: boolean;
};

/** Returns the choices: services by their names first, then servers of the owner's own. */
function servicesOf(
  providers: readonly ProviderContribution[],
  only: ProviderContribution | null,
): readonly Service[] {
  const names = new Set(providers.map(({ name }) => name));
  const services = (only === null ? providers : [only]).flatMap((provider): Service[] => {
    const { label, keyMadeIn, isKeyNeeded, proposedAddress, services: known = [] } = provider.setup;
    // A provider of that name knows the service better.
    const others = known.filter(({ name }) => name === provider.name || !names.has(name));
    return [
      ...others.map((one) => ({
        ...one,
        provider,
        proposedAddress: null,
        isKeyNeeded: one.keyMadeIn !== null,
      })),
      { provider, label, address: null, proposedAddress, keyMadeIn, isKeyNeeded },
    ];
  });
  return services.sort((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
}

/** Tells whether the owner has to type the address. */
const isOwn = ({ proposedAddress }: Service): boolean => proposedAddress === '';

const asksAddress = ({ address, proposedAddress }: Service): boolean =>
  address === null && proposedAddress !== null;

/** Returns the service of a provider at an address; null if there is more than one to choose from. */
function serviceOf(
  services: readonly Service[],
  provider: ProviderContribution | null,
  baseUrl: string | null,
): Service | null {
  const own = services.filter((service) => service.provider === provider);
  if (baseUrl === null) return own.length === 1 ? (own[0] ?? null) : null;
  return own.find(({ address }) => address === baseUrl) ?? own.at(-1) ?? null;
}

async function askForService(services: readonly Service[]): Promise<Service | typeof BACK> {
  const { select } = await import('@patchclaw/claw/prompts');
  return await answered(
    select<Service>({
      message: 'Whose model do you want to use?',
      options: services.map((value) => ({ value, label: value.label })),
      output: process.stderr,
    }),
  );
}

async function askForAddress(
  proposed: string,
  before: string | null,
): Promise<string | typeof BACK> {
  const { log } = await import('@patchclaw/claw/prompts');
  for (let initial = before ?? ''; ; ) {
    const typed = await askForLine({
      message: 'Address of the server',
      initial,
      placeholder: proposed || 'such as http://localhost:8000/v1',
      check: (text) => (text === '' && proposed !== '' ? null : problemOfAddress(text)),
    });
    if (typed === BACK) return BACK;
    const address = typed || proposed;
    const problem = await problemOfServer(address);
    if (problem === null) return address;
    log.error(fittedAtBar(problem), { output: process.stderr });
    await dropTyped();
    initial = typed;
  }
}

async function askForKey(
  { keyMadeIn, isKeyNeeded }: Service,
  onEmpty: 'typed' | 'set' | null,
): Promise<string | typeof BACK> {
  const { password, S_BAR } = await import('@patchclaw/claw/prompts');
  const hint = onEmpty !== null ? `Enter keeps the one ${KEPT[onEmpty]}` : 'Enter if it needs none';
  const mayBeEmpty = !isKeyNeeded || onEmpty !== null;
  const rest = mayBeEmpty ? `; ${hint}` : '';
  const typed = await answered(
    password({
      message: fittedQuestion(`API key (from ${keyMadeIn}${rest})`, S_BAR),
      validate: (text) => keyProblem((text ?? '').trim(), mayBeEmpty) ?? undefined,
      output: process.stderr,
    }),
  );
  return typed === BACK ? BACK : String(typed ?? '').trim();
}

const KEPT = { typed: 'you typed', set: 'that is set' } as const;

/** Lets the owner choose from a list, or type a name; null takes the provider's default. */
async function askForName(
  list: ModelList | null,
  { model, usual }: { readonly model: string | null; readonly usual: string | undefined },
): Promise<string | null | typeof BACK> {
  const { autocomplete, log } = await import('@patchclaw/claw/prompts');
  const output = process.stderr;
  const names = list?.kind === 'listed' ? list.models.map(({ name }) => name) : [];
  const askToType = (initial: string) =>
    askForLine({ message: 'Name of the model', initial, placeholder: '', check: nameProblem });
  if (names.length === 0) {
    if (list?.kind === 'none') log.warn(fittedAtBar(list.message), { output });
    return usual === undefined ? await askToType(model ?? '') : model;
  }
  for (;;) {
    const options = optionsFor(names, model ?? usual);
    let searched = '';
    const chosen = await answered(
      autocomplete({
        message: 'The model (type to search)',
        options: [...options, { value: TYPED, label: 'another one: type its name' }],
        initialValue: options[0]?.value ?? TYPED,
        // The way to type a name stays, so that Enter always has something to choose.
        filter(search, { value }) {
          searched = search.trim();
          return value === TYPED || value.toLowerCase().includes(searched.toLowerCase());
        },
        maxItems: 12,
        output,
      }),
    );
    if (chosen !== TYPED) return chosen;
    const typed = await askToType(model ?? searched);
    if (typed !== BACK) return typed;
  }
}

async function askForLine(line: {
  readonly message: string;
  readonly initial: string;
  readonly placeholder: string;
  readonly check: Check;
}): Promise<string | typeof BACK> {
  const { text } = await import('@patchclaw/claw/prompts');
  const typed = await answered(
    text({
      message: line.message,
      initialValue: line.initial,
      placeholder: line.placeholder,
      validate: (so) => line.check((so ?? '').trim()) ?? undefined,
      output: process.stderr,
    }),
  );
  return typed === BACK ? BACK : (typed ?? '').trim();
}

/** Waits for an answer; Esc is BACK. @throws ClawError INTERRUPTED on Ctrl-C */
async function answered<T>(asked: Promise<T>): Promise<Exclude<T, symbol> | typeof BACK> {
  const { isCancel } = await import('@patchclaw/claw/prompts');
  let isEscape = false;
  const note = (_: unknown, key?: { readonly name?: string }): void => {
    isEscape = key?.name === 'escape';
  };
  process.stdin.on('keypress', note);
  const answer = await asked.finally(() => process.stdin.off('keypress', note));
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  if (isEscape) return BACK;
  throw left();
}

function left(): ClawError {
  return new ClawError('INTERRUPTED', 'Set-up cancelled; nothing was written.');
}

/** Stands for a model that is in no list; no server has one of this name. */
const TYPED = ' ';

/** Returns the choices of a list, the one that counts by default first. */
function optionsFor(names: readonly string[], first: string | undefined) {
  const listed = names.filter((name) => name !== first);
  return (first === undefined ? listed : [first, ...listed]).map((value) => ({
    value,
    label: value === first ? `${value} (as it is)` : value,
  }));
}

type Check = (typed: string) => string | null;

function nameProblem(typed: string): string | null {
  if (typed === '') return 'Type the name by which the server knows the model.';
  return /\s/.test(typed) ? 'A name of a model has no spaces.' : null;
}

function keyProblem(typed: string, mayBeEmpty: boolean): string | null {
  if (typed === '') return mayBeEmpty ? null : 'Paste the key.';
  return /\s/.test(typed) ? 'A key has no spaces.' : null;
}

/** Drops keys that were typed while no question was open: they would answer the next question. */
export async function dropTyped(): Promise<void> {
  const { stdin } = process;
  if (stdin.isTTY !== true) return;
  const drop = (): void => {};
  stdin.setRawMode(true);
  stdin.on('data', drop);
  stdin.resume();
  // What the terminal holds is read within this moment; what comes later is typed at the question.
  await new Promise((resolve) => setTimeout(resolve, 50));
  stdin.off('data', drop);
  stdin.pause();
  stdin.setRawMode(false);
}

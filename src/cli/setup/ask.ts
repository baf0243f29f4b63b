import { ClawError } from '../../engine/commands.ts';
import { problemOfAddress } from '../../lib/setting-values.ts';
import type { ModelList } from '../../model/catalog/ask-for-list.ts';
import { problemOfServer } from '../../model/completion.ts';
import type { ProviderContribution } from '../../model/provider.ts';
import { fittedAtBar, fittedQuestion } from './fitted.ts';

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
  /** Answers that the server refused: all is asked again, with these as a start. */
  readonly refused: Answers | null;
  /** Asks the provider's server for its models, with these answers; null where there is no such server. */
  readonly listOf: (answers: Answers) => Promise<ModelList | null>;
  /** Tells whether a key is set already, so that an empty answer keeps it. */
  readonly hasKey: (provider: ProviderContribution) => boolean;
};

/**
 * Asks for a model on the terminal. Each answer is looked at when it is given, and asked for again.
 *
 * @returns the answers, and the words of a server that refused their key, of which no model was asked for then
 * @throws ClawError INTERRUPTED when the owner leaves
 */
export async function askForModel(
  asking: Asking,
): Promise<{ readonly answers: Answers; readonly refusal: string | null }> {
  const { providers, given, refused, listOf, hasKey } = asking;
  const { autocomplete, isCancel, log, password, S_BAR, select, text } = await import(
    '../prompts.ts'
  );
  const output = process.stderr;
  const answered = async <T>(asked: Promise<T>): Promise<Exclude<T, symbol>> => {
    const answer = await asked;
    if (isCancel(answer)) throw new ClawError('INTERRUPTED', 'Set-up left; nothing was written.');
    return answer as Exclude<T, symbol>;
  };
  const line = async (message: string, initialValue: string, check: Check): Promise<string> => {
    const validate = (typed: string | undefined) => check((typed ?? '').trim()) ?? undefined;
    return (await answered(text({ message, initialValue, validate, output }))).trim();
  };
  const provider =
    refused?.provider ??
    given.provider ??
    (await answered(
      select<ProviderContribution>({
        message: 'Which model do you want to use?',
        options: providers.map((value) => ({ value, label: value.setup.label })),
        output,
      }),
    ));
  const askForAddress = async (initial: string): Promise<string> => {
    for (let typed = initial; ; ) {
      const before = typed;
      typed = await line('Its address (Ctrl-U clears the line)', before, (text) =>
        isPastedAfter(before, text) ? TWO_ADDRESSES : problemOfAddress(text),
      );
      const problem = await problemOfServer(typed);
      if (problem === null) return typed;
      log.error(fittedAtBar(problem), { output });
      await dropTyped();
    }
  };
  const { setup, defaultModel } = provider;
  const asks = refused !== null;
  let { baseUrl, model } = refused ?? given;
  if (setup.proposedAddress !== null && (asks || baseUrl === null)) {
    baseUrl = await askForAddress(baseUrl ?? setup.proposedAddress);
  }
  const mayBeEmpty = !setup.isKeyNeeded || hasKey(provider);
  const key = await answered(
    password({
      message: fittedQuestion(
        `The key, made in ${setup.keyMadeIn}${mayBeEmpty ? onEmptyKey(hasKey(provider)) : ''}`,
        S_BAR,
      ),
      validate: (typed) => keyProblem((typed ?? '').trim(), mayBeEmpty) ?? undefined,
      output,
    }),
  );
  const answers = { provider, key: String(key ?? '').trim(), baseUrl, model };
  if (!asks && model !== null) return { answers, refusal: null };
  const list = await listOf(answers);
  if (list?.kind === 'none' && list.isKeyRefused) return { answers, refusal: list.message };
  const names = list?.kind === 'listed' ? list.models.map(({ name }) => name) : [];
  if (names.length > 0) {
    const first = model ?? defaultModel;
    const options = optionsFor(names, first);
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
    if (chosen !== TYPED) return { answers: { ...answers, model: chosen }, refusal: null };
    model ??= searched;
  }
  if (defaultModel === undefined || names.length > 0) {
    if (list?.kind === 'none') log.warn(fittedAtBar(list.message), { output });
    model = await line('The name of the model', model ?? '', nameProblem);
  }
  return { answers: { ...answers, model }, refusal: null };
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

const TWO_ADDRESSES = 'The proposed address is still before yours: Ctrl-U clears the line.';

function isPastedAfter(proposed: string, typed: string): boolean {
  return typed.startsWith(proposed) && /^https?:/i.test(typed.slice(proposed.length));
}

const onEmptyKey = (isSet: boolean): string =>
  isSet ? ' (empty: the one that is set)' : ' (empty for a server without one)';

type Check = (typed: string) => string | null;

function nameProblem(typed: string): string | null {
  if (typed === '') return 'Type the name by which the server knows the model.';
  return /\s/.test(typed) ? 'A name of a model has no spaces.' : null;
}

function keyProblem(typed: string, mayBeEmpty: boolean): string | null {
  if (typed === '') return mayBeEmpty ? null : 'Paste the key.';
  return /\s/.test(typed) ? 'A key has no spaces.' : null;
}

/** Forgets what was typed while nothing was asked: it would answer the next question. */
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

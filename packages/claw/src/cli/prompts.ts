import * as clack from '@clack/prompts';
import { visible } from '../text/visible-text.ts';

/**
 * The questions that `claw` asks on a terminal. Every question goes through this module, since names and texts of
 * strangers may be part of it: a person must not misread what they say yes to.
 */
export { intro, isCancel, log, outro, S_BAR } from '@clack/prompts';

/** Asks for a yes or a no. */
export function confirm(options: clack.ConfirmOptions) {
  return clack.confirm(shown(options));
}

/** Asks for a line of text. */
export function text(options: clack.TextOptions) {
  return clack.text(shown(options));
}

/** Asks for a line of text that is not shown. */
export function password(options: clack.PasswordOptions) {
  return clack.password(shown(options));
}

/** Asks for one of a few values. */
export function select<V>(options: clack.SelectOptions<V>) {
  return clack.select<V>({ ...shown(options), options: options.options.map(labelled) });
}

/**
 * Asks for one of a few keys and Enter; null if the person cancels. If a prompt took the key alone, the Enter would
 * answer the next question with yes.
 */
export async function keyAndEnter(
  message: string,
  options: readonly (readonly [key: string, label: string])[],
  output: typeof process.stderr,
): Promise<string | null> {
  const keys = options.map(([key]) => key);
  const lines = options.map(([key, label]) => visible(`  ${key}  ${label}`));
  const answer = await clack.text({
    message: [visible(message), ...lines].join('\n'),
    placeholder: 'a number or letter, then Enter',
    output,
    validate: (typed) =>
      keys.includes((typed ?? '').trim()) ? undefined : `Type one of these: ${keys.join(', ')}.`,
  });
  return clack.isCancel(answer) ? null : answer.trim();
}

/** Asks for one of many values, with a search. */
export function autocomplete<V>(
  options: clack.AutocompleteOptions<V> & { readonly options: clack.Option<V>[] },
) {
  return clack.autocomplete<V>({ ...shown(options), options: options.options.map(labelled) });
}

function shown<O extends { readonly message: string }>(options: O): O {
  return { ...options, message: visible(options.message) };
}

function labelled<V>(option: clack.Option<V>): clack.Option<V> {
  return option.label === undefined ? option : { ...option, label: visible(option.label) };
}

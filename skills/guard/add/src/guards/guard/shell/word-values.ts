import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from 'unbash';

/** A word's text as far as it is known before it runs; null where it is not. */
export type Value = string | null;

/** Knowledge that a shell has when it reads a word. */
export type Scope = {
  /** Variables that this text has set; null for a value that is not known. */
  readonly variables: Map<string, Value>;
  /** Called with each script inside a word; returns what it writes, where that is known. */
  readonly outputOf: (script: ParsedScript) => Value;
};

/** Ends a word where an unquoted value has a space. */
export const BREAK = '\u0000';

const LONGEST = 100_000;

/** Set by the system, with values that are not known here. */
const SYSTEM =
  /^(?:PATH|USER|LOGNAME|PWD|OLDPWD|SHELL|HOSTNAME|RANDOM|SECONDS|PPID|UID|[@*#?$!0-9-])$/;

/**
 * Returns the words that a shell makes of a word: quotes taken off, variables and braces replaced, and split where
 * an unquoted value has spaces.
 */
export function valuesOf(word: Word, scope: Scope): readonly Value[] {
  const { parts } = word;
  if (parts === undefined) return [word.value];
  const braces = alternativesOf(word);
  if (braces !== null) return braces;
  const texts = parts.map((part) => partValue(part, scope, false));
  if (texts.some((text) => text === null)) return [null];
  const words = texts
    .join('')
    .split(BREAK)
    .filter((one) => one !== '');
  const isQuoted = parts.some(({ type }) => /Quoted|Locale/.test(type));
  return words.length === 0 && isQuoted ? [''] : words;
}

/** Returns the text of a word that a shell does not split, such as what stands after `x=`. */
export function wholeValue(word: Word, scope: Scope): Value {
  const { parts } = word;
  if (parts === undefined) return word.value;
  const texts = parts.map((part) => partValue(part, scope, true));
  return joined(texts);
}

/** A value that doubles itself a few times would fill the memory. */
function joined(texts: readonly Value[]): Value {
  const sizes = texts.map((text) => text?.length ?? 0);
  const size = sizes.reduce((one, other) => one + other, 0);
  return size > LONGEST || texts.some((text) => text === null) ? null : texts.join('');
}

function partValue(part: WordPart | DoubleQuotedChild, scope: Scope, isQuoted: boolean): Value {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
    case 'LocaleString': {
      const inner = part.parts.map((one) => partValue(one, scope, true));
      return joined(inner);
    }
    case 'SimpleExpansion':
      return split(variable(part.text.slice(1), scope), isQuoted);
    case 'ParameterExpansion':
      return split(parameter(part, scope), isQuoted);
    case 'CommandExpansion': {
      const output = part.script === undefined ? null : scope.outputOf(part.script);
      return split(output?.trimEnd() ?? null, isQuoted);
    }
    case 'ArithmeticExpansion':
      return '1';
    case 'ProcessSubstitution':
      if (part.script !== undefined) scope.outputOf(part.script);
      return null;
    default:
      return null;
  }
}

function variable(name: string, { variables }: Scope): Value {
  const known = variables.get(name);
  if (known !== undefined) return known;
  if (name === 'IFS') return ' ';
  if (name === 'HOME') return '~';
  // What was never set is empty: that is how a word is pulled apart and still runs.
  return SYSTEM.test(name) ? null : '';
}

function parameter(part: WordPart & { readonly type: 'ParameterExpansion' }, scope: Scope): Value {
  const { operator, operand, indirect, length, slice, replace, index } = part;
  if (indirect || length || slice || replace || index !== undefined) return null;
  const value = variable(part.parameter, scope);
  if (operator === undefined) return value;
  const other = operand === undefined ? '' : wholeValue(operand, scope);
  if (operator === ':-' || operator === '-' || operator === ':=' || operator === '=') {
    return value === '' ? other : value;
  }
  return operator === ':?' || operator === '?' ? value : null;
}

function split(value: Value, isQuoted: boolean): Value {
  return isQuoted || value === null ? value : value.replace(/[ \t\n]+/g, BREAK);
}

/** `{a,b}` alone is several words. */
function alternativesOf({ parts = [], text }: Word): readonly Value[] | null {
  if (!parts.some(({ type }) => type === 'BraceExpansion')) return null;
  const inner = /^\{([^{}$`'"\\]*)\}$/.exec(text)?.[1];
  if (inner?.includes(',')) return inner.split(',');
  return [null];
}

import { type Duplicate, duplicatesIn } from './duplicates.ts';
import type { Language } from './language.ts';
import { parseSyntax } from './parse.ts';
import { decodeLines, type Sides } from './side.ts';

/** What is wrong with a merged text: it does not parse, or it has names twice that no side had. */
export type Flaw =
  | { readonly kind: 'syntax' }
  | { readonly kind: 'duplicates'; readonly duplicates: readonly Duplicate[] };

/**
 * What a merge has done to texts that parse; null where nothing is wrong.
 *
 * @param merged the merged lines
 * @param readParents called only where the merged text raises a question
 */
export function flawIn(
  merged: readonly string[],
  language: Language,
  readParents: () => Sides | null,
): Flaw | null {
  const text = decodeLines(merged);
  const syntax = parseSyntax(text, language, { tokens: false });
  const isStrict = language !== 'json' || isStrictJson(text);
  const found = syntax === null ? [] : duplicatesIn(text, syntax);
  if (syntax !== null && isStrict && found.length === 0) return null;
  const parents = readParents();
  if (parents === null) return null;
  const { base, ours, theirs } = parents;
  const wereStrict = () => [base, ours, theirs].every((side) => isStrictJson(side.text));
  if (syntax === null || (!isStrict && wereStrict())) return { kind: 'syntax' };
  const known = new Set(
    [ours, theirs].flatMap((side) => duplicatesIn(side.text, side.syntax)).map(({ key }) => key),
  );
  const duplicates = found.filter(({ key }) => !known.has(key));
  return duplicates.length === 0 ? null : { kind: 'duplicates', duplicates };
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The question is whether it does parse: with comments or trailing commas it does not.
    return false;
  }
}

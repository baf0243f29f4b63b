import { type ParseError, parse as parseJson, printParseErrorCode } from 'jsonc-parser';
import type { EntryReader } from '../../entries/entry.ts';
import { entryReader } from '../../entries/reader.ts';
import { type Format, isLanguage, type Language } from '../language.ts';
import type { Parse, SyntaxFault } from '../parse.ts';
import { duplicatesIn, repeated } from './duplicates.ts';
import type { Inspection } from './inspection.ts';
import { inspectKeyedLines, inspectYaml } from './keys.ts';

/** Reads a text that is decoded and has line feeds only. */
export type Reader = (text: string) => Inspection;

/** Finds the reason that a text cannot be read; null where it can be told by none. */
export type FindFault = (text: string, language: Language) => SyntaxFault | null;

/** Returns the ways to read a format, from the strictest on. */
export function readersOf(format: Format, parse: Parse, findFault: FindFault): readonly Reader[] {
  if (format === 'yaml') return [inspectYaml];
  if (format === 'keyed-lines') return [inspectKeyedLines];
  if (!isLanguage(format)) return [(text) => inspectEntries(text, entryReader(format))];
  const lenient: Reader = (text) => inspectProgram(text, format, parse, findFault);
  return format === 'json' ? [(text) => inspectStrictJson(text, lenient), lenient] : [lenient];
}

function inspectProgram(
  text: string,
  language: Language,
  parse: Parse,
  findFault: FindFault,
): Inspection {
  const syntax = parse(text, language, { tokens: false });
  const isDoubtful = syntax === null || syntax.hasUndeclared;
  const fault = isDoubtful ? findFault(text, language) : null;
  if (syntax !== null && fault === null) {
    return { fault, duplicates: duplicatesIn(text, syntax) };
  }
  return { fault: fault ?? { line: 1, reason: 'it cannot be read' }, duplicates: [] };
}

function inspectStrictJson(text: string, lenient: Reader): Inspection {
  const fault = jsonFault(text);
  return fault === null ? lenient(text) : { fault, duplicates: [] };
}

function jsonFault(text: string): SyntaxFault | null {
  const errors: ParseError[] = [];
  parseJson(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [error] = errors;
  if (error === undefined) return null;
  const words = printParseErrorCode(error.error).replaceAll(/(?<=.)([A-Z])/g, ' $1');
  const reason = `not strict JSON (${words.toLowerCase()})`;
  return { line: text.slice(0, error.offset).split('\n').length, reason };
}

/** Finds the names that a list has twice. Every text can be read. */
function inspectEntries(text: string, read: EntryReader | null): Inspection {
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const named = (read?.(lines) ?? []).flatMap(({ list, key, start }) =>
    key === null ? [] : [{ list, name: key, start: starts[start] ?? 0 }],
  );
  // By name alone: the heading above a list may have changed since.
  const duplicates = [...Map.groupBy(named, ({ list }) => list).values()].flatMap((inside) =>
    repeated(inside).map((one) => ({ key: one.name, ...one })),
  );
  return { fault: null, duplicates };
}

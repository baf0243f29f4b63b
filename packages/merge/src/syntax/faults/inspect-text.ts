import { type ParseError, parse as parseJson, printParseErrorCode } from 'jsonc-parser';
import { isPair, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import { type EntryReader, entryReader } from '../../entries/entry-readers.ts';
import { type Format, isLanguage, type Language } from '../language.ts';
import type { Parse, SyntaxFault } from '../parse.ts';
import { type Duplicate, duplicatesIn, repeated } from './duplicate-names.ts';

/** Findings about one text by itself: the reason why it cannot be read, or the names that it has twice. */
export type Inspection = {
  readonly fault: SyntaxFault | null;
  readonly duplicates: readonly Duplicate[];
};

/** Reads a text that is decoded and has line feeds only. */
export type Reader = (text: string) => Inspection;

/** Finds the reason why a text cannot be read; null if no reason is known. */
export type FindFault = (text: string, language: Language) => SyntaxFault | null;

/** Returns the readers of a format, the strictest first. */
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

const KEY = /^\s*(?:export\s+)?([\w.-]+|"[^"]*"|'[^']*')\s*=/;
const SECTION = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:#.*)?$/;

/** Reads YAML, of one document or several; a key that occurs twice in one map is a duplicate. */
function inspectYaml(text: string): Inspection {
  const lineCounter = new LineCounter();
  // Unique keys are looked for below: the parser compares each one with all others.
  const parsed = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  // An empty text is not a list of documents.
  const documents = Array.isArray(parsed) ? parsed : [];
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) {
    const fault = { line: lineCounter.linePos(error.pos[0]).line, reason: error.message };
    return { fault, duplicates: [] };
  }
  const duplicates = documents.flatMap((document, at) => duplicateKeys(document, `${at}`));
  return { fault: null, duplicates };
}

function duplicateKeys(document: Parameters<typeof visit>[0], place: string): readonly Duplicate[] {
  const found: Duplicate[] = [];
  visit(document, {
    Map(_, map, path) {
      const around = path.flatMap((node) =>
        isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [],
      );
      const keys = map.items.flatMap(({ key }) =>
        isScalar(key) && key.value !== '<<' && key.range
          ? [{ name: String(key.value), start: key.range[0] }]
          : [],
      );
      for (const { name, places } of repeated(keys)) {
        found.push({ key: [place, ...around, name].join('/'), name, places });
      }
    },
  });
  return found;
}

/**
 * Reads lines of `KEY=value`, in sections or not, as in `.env` and TOML. Every text can be read; a key that
 * occurs twice in one section is a duplicate.
 */
function inspectKeyedLines(text: string): Inspection {
  const keys: { readonly name: string; readonly start: number; readonly section: string }[] = [];
  let start = 0;
  let section = '';
  const sections = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, head] = SECTION.exec(line) ?? [];
    const [, name] = KEY.exec(line) ?? [];
    if (head !== undefined) {
      const count = sections.get(head) ?? 0;
      sections.set(head, count + 1);
      // `[[package]]` begins another one of its kind each time.
      section = line.trimStart().startsWith('[[') ? `${head} ${count}` : head;
      // A table is a key of the one that it is in.
      const [, outer, inner] = count === 0 ? (/^(.+)\.([\w-]+)$/.exec(head) ?? []) : [];
      if (outer !== undefined && inner !== undefined && section === head)
        keys.push({ name: inner, start, section: outer });
    } else if (name !== undefined) keys.push({ name, start, section });
    start += line.length + 1;
  }
  const duplicates = [...Map.groupBy(keys, (key) => key.section)].flatMap(([about, inside]) =>
    repeated(inside).map((one) => ({ key: `${about}/${one.name}`, ...one })),
  );
  return { fault: null, duplicates };
}

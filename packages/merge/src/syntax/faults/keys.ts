import { isPair, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import { type Duplicate, repeated } from './duplicates.ts';
import type { Inspection } from './inspection.ts';

const KEY = /^\s*(?:export\s+)?([\w.-]+|"[^"]*"|'[^']*')\s*=/;
const SECTION = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:#.*)?$/;

/** Reads YAML, of one document or several; a key that occurs twice in one map is a duplicate. */
export function inspectYaml(text: string): Inspection {
  const lineCounter = new LineCounter();
  // Unique keys are looked for below: the parser compares each one with all others.
  const parsed = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  // An empty text is no list of documents.
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
export function inspectKeyedLines(text: string): Inspection {
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

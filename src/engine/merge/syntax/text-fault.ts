import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { LineCounter, parseDocument } from 'yaml';
import type { TreeFile } from '../../tree.ts';
import { languageOf } from './language.ts';
import { type SyntaxFault, syntaxFault } from './parse.ts';

/**
 * What keeps a merged file from being read although both sides can be; null where nothing does, or
 * nobody here can tell. Files with comments in their JSON are measured by their sides.
 *
 * @param path its extension tells the language
 */
export function mergeFault(
  path: string,
  merged: TreeFile,
  sides: readonly (TreeFile | null)[],
): SyntaxFault | null {
  for (const faultIn of readersOf(path)) {
    const isReadable = (side: TreeFile | null) => side === null || faultIn(textOf(side)) === null;
    if (sides.every(isReadable)) return faultIn(textOf(merged));
  }
  return null;
}

type Reader = (text: string) => SyntaxFault | null;

/** From the strictest on. */
function readersOf(path: string): readonly Reader[] {
  if (/\.ya?ml$/i.test(path)) return [yamlFault];
  const language = languageOf(path);
  if (language === null) return [];
  const lenient: Reader = (text) => syntaxFault(text, language);
  return language === 'json' ? [jsonFault, lenient] : [lenient];
}

function jsonFault(text: string): SyntaxFault | null {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [error] = errors;
  if (error === undefined) return null;
  const words = printParseErrorCode(error.error).replaceAll(/(?<=.)([A-Z])/g, ' $1');
  const reason = `not strict JSON (${words.toLowerCase()})`;
  return { line: text.slice(0, error.offset).split('\n').length, reason };
}

function yamlFault(text: string): SyntaxFault | null {
  const lineCounter = new LineCounter();
  const [error] = parseDocument(text, { lineCounter, prettyErrors: false }).errors;
  if (error === undefined) return null;
  return { line: lineCounter.linePos(error.pos[0]).line, reason: error.message };
}

function textOf({ bytes }: TreeFile): string {
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

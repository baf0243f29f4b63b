import { z } from 'zod';
import { jsonWithin } from '../../lib/bounded-json.ts';

/** The shape that a message asks its answer to have. It holds no word of the message. */
export const Shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['json', 'table', 'code', 'yes-no']) }),
  z.object({ kind: z.literal('list'), count: z.int().positive().nullable() }),
  z.object({ kind: z.enum(['words', 'sentences']), most: z.int().positive() }),
]);
export type Shape = z.output<typeof Shape>;

/** Longer messages bring a text to work on, whose words ask for nothing. */
const LONGEST = 2_000;
const ANSWER = `(?:answer|reply|respond|return|give|output|print|write|antworte|gib|schreib|réponds?|répondez|donne|écris|responde|dame|escribe|rispondi|dammi|scrivi|responda|antwoord|geef)`;
const ONLY_JSON = new RegExp(`\\b${ANSWER}\\b[^.!?\\n]{0,60}\\bjson\\b`, 'iu');
const TABLE =
  /\b(?:as|in|into|als|en|sous forme de|come|em|in einer|in eine) (?:an? |une? |una |uma |einer |eine |een )?(?:markdown )?(?:table|tabelle|tableau|tabla|tabella|tabela|tabel)\b/iu;
const CODE =
  /\b(?:only|just|nothing but|nur|seulement|solo|apenas|alleen) (?:the |den |le |el |il |o |de )?(?:code|quellcode|código|codice)\b/iu;
const YES_NO = /\b(?:yes or no|ja oder nein|oui ou non|s[íì] o no|sim ou não|ja of nee)\b/iu;
const COUNTED_LIST =
  /\b(?:list|name|give me|tell me|suggest|nenne|gib mir|liste|cite|donne-moi|dime|dame|enumera|elenca|dammi|lista|noem)(?: me| mir)? (?:the |die |les |los |las |i |le |de )?(?:top |best |besten )?(\d{1,2}|two|three|five|ten|zwei|drei|fünf|zehn|deux|trois|cinq|dix|dos|tres|cinco|diez|due|tre|cinque|dieci)\b(?! ?(?:%|am\b|pm\b|uhr|words?|wörter|sentences?|sätze))/iu;
const ANY_LIST =
  /\b(?:as|in|als|en|sous forme de|come|em) (?:an? |une? |una |uma |einer |eine |een )?(?:bullet(?:ed)? |numbered |nummerierte |nummerierter )?(?:list|liste|lista|elenco|lijst|bullet points|bullets|stichpunkten?|stichworten)\b/iu;
const NUMBER = String.raw`(\d{1,4}|one|two|three|five|ten|einem|einen|ein|zwei|drei|fünf|zehn|une?|deux|trois|cinq|dix|una?|dos|tres|cinco|diez|due|tre|cinque|dieci)`;
const LIMIT = String.raw`(?:in|at most|no more than|under|within|maximum|max\.?|höchstens|maximal|en|au plus|máximo|como máximo|massimo|al massimo|em|no máximo)`;
const WORDS = new RegExp(
  `\\b${LIMIT} ${NUMBER} (?:words?|worten?|wörtern?|mots?|palabras?|parole|parola|palavras?|woorden)\\b`,
  'iu',
);
const SENTENCES = new RegExp(
  `\\b${LIMIT} ${NUMBER} (?:short |kurzen )?(?:sentences?|satz|sätzen?|phrases?|frases?|frasi|zinnen|zin)\\b`,
  'iu',
);
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ one: 1, einem: 1, einen: 1, ein: 1, un: 1, une: 1, una: 1 },
  ...{ two: 2, zwei: 2, deux: 2, dos: 2, due: 2 },
  ...{ three: 3, drei: 3, trois: 3, tres: 3, tre: 3 },
  ...{ five: 5, fünf: 5, cinq: 5, cinco: 5, cinque: 5 },
  ...{ ten: 10, zehn: 10, dix: 10, diez: 10, dieci: 10 },
};

/** Tells which shape a message asks for, in the languages that `classify` knows; null where it asks for none. */
export function askedShape(message: string): Shape | null {
  if (message.length > LONGEST) return null;
  if (ONLY_JSON.test(message)) return { kind: 'json' };
  if (TABLE.test(message)) return { kind: 'table' };
  if (CODE.test(message)) return { kind: 'code' };
  if (YES_NO.test(message)) return { kind: 'yes-no' };
  const words = numberIn(WORDS, message);
  if (words !== null) return { kind: 'words', most: words };
  const sentences = numberIn(SENTENCES, message);
  if (sentences !== null) return { kind: 'sentences', most: sentences };
  const count = numberIn(COUNTED_LIST, message);
  if (count !== null && count > 1) return { kind: 'list', count };
  return ANY_LIST.test(message) ? { kind: 'list', count: null } : null;
}

function numberIn(pattern: RegExp, message: string): number | null {
  const [, found] = pattern.exec(message) ?? [];
  if (found === undefined) return null;
  const number = NUMBERS[found.toLowerCase()] ?? Number(found);
  return Number.isInteger(number) && number > 0 ? number : null;
}

const FENCED = /^```[\w-]*\n([\s\S]*?)\n?```$/;
const ITEM = /^( {0,12})(?:[-*•–]|\d{1,3}[.)])\s+\S/;
const RULE = /^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$/;
/** People count differently from what follows here. */
const TOLERANCE = 1.15;

/** Tells whether an answer has a shape. */
export function hasShape(answer: string, shape: Shape): boolean {
  const text = answer.trim();
  switch (shape.kind) {
    case 'json': {
      const value = jsonWithin(FENCED.exec(text)?.[1] ?? text);
      return typeof value === 'object' && value !== null;
    }
    case 'table':
      return text.split('\n').some((line) => line.includes('|') && RULE.test(line));
    case 'code':
      return FENCED.test(text) || !/^[A-Z][^\n]*[.:]$/m.test(text);
    case 'yes-no':
      return /^\W*(?:yes|no|ja|nein|nee|oui|non|s[íì]|sim|não)(?![\p{L}])/iu.test(text);
    case 'list': {
      const items = itemsIn(text);
      return shape.count === null ? items >= 2 : items === shape.count;
    }
    case 'words':
      return segments(text, 'word') <= shape.most * TOLERANCE;
    case 'sentences':
      return segments(text, 'sentence') <= shape.most;
  }
}

/** Counts the items of a list; those that are indented below another belong to it. */
function itemsIn(text: string): number {
  const indents = text.split('\n').flatMap((line) => ITEM.exec(line)?.[1]?.length ?? []);
  const least = Math.min(...indents);
  return indents.filter((indent) => indent === least).length;
}

function segments(text: string, granularity: 'word' | 'sentence'): number {
  const all = new Intl.Segmenter('en', { granularity }).segment(text.slice(0, 100_000));
  return [...all].filter(({ segment, isWordLike }) =>
    granularity === 'word' ? isWordLike === true : /[\p{L}\p{N}]/u.test(segment),
  ).length;
}

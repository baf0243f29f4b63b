import { parse } from 'yaml';
import { z } from 'zod';

/** A concept of a role's knowledge graph: a Markdown file of the role's folder. */
export type Concept = {
  /** The file's name without `.md`, by which other concepts link to it. */
  readonly file: string;
  /** The heading, the `title`, or the file's name with spaces for dashes. */
  readonly name: string;
  /** The name and its synonyms: a message that has one of them concerns the concept. */
  readonly terms: readonly string[];
  /** Names of the concepts that it links to, as they are written. */
  readonly links: readonly string[];
  readonly text: string;
  /** What is wrong with the file, as a sentence without its end; null if nothing is. */
  readonly problem: string | null;
};

const MOST_TERMS = 40;
const MOST_LINKS = 60;
const MAX_TERM = 100;
const MAX_HEAD = 8_192;
/** Far more than the context of a turn gets of one concept. */
const MAX_TEXT = 16_384;

const Words = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.coerce.string()).max(200)])
  .nullish()
  .transform((words) => words ?? []);
const Head = z.object({
  title: z.coerce.string().optional(),
  synonyms: Words,
  aliases: Words,
  related: Words,
});

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
/** A property as Logseq and Terraphim write it, on a line of its own. */
const PROPERTY = /^[ \t]*(?:[-*][ \t]+)?(synonyms|alias|aliases|related)::[ \t]*(.*)$/gim;
const HEADING = /^#{1,6}[ \t]+(.+)$/m;
const WIKI_LINK = /\[\[([^[\]|#\n]{1,100})(?:[|#][^[\]\n]{0,100})?\]\]/g;
const FILE_LINK = /\]\((?:\.\/)?([^()\s:/]{1,100})\.md\)/g;

/**
 * Reads a concept. Its synonyms stand in the front matter (`synonyms`, `aliases`) or on a line `synonyms:: a, b`; its links
 * are `[[wiki links]]`, links to other files of the folder, and `related`. A file without any of it is a concept too.
 */
export function parseConcept(file: string, source: string): Concept {
  const [front = '', head = ''] = FRONT_MATTER.exec(source) ?? [];
  const { fields, problem } = fieldsOf(head);
  const properties = { synonyms: [] as string[], related: [] as string[] };
  const text = source
    .slice(front.length)
    .replace(PROPERTY, (_, key: string, words: string) => {
      const list = key.toLowerCase() === 'related' ? properties.related : properties.synonyms;
      list.push(...words.split(','));
      return '';
    })
    .trim();
  const heading = HEADING.exec(text)?.[1];
  const name = oneLine(fields.title ?? heading ?? file.replace(/[-_]+/g, ' '));
  const linked = [WIKI_LINK, FILE_LINK].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, target = '']) => decoded(target)),
  );
  return {
    file,
    name,
    terms: eachOnce(
      [
        name,
        file.replace(/[-_]+/g, ' '),
        ...fields.synonyms,
        ...fields.aliases,
        ...properties.synonyms,
      ],
      MOST_TERMS,
    ),
    links: eachOnce([...fields.related, ...properties.related, ...linked], MOST_LINKS),
    text: withoutHeading(text, heading).slice(0, MAX_TEXT),
    problem,
  };
}

const NO_FIELDS = { title: undefined, synonyms: [], aliases: [], related: [] };

function fieldsOf(head: string): {
  readonly fields: Pick<z.output<typeof Head>, 'synonyms' | 'aliases' | 'related'> & {
    readonly title?: string | undefined;
  };
  readonly problem: string | null;
} {
  if (head.trim() === '') return { fields: NO_FIELDS, problem: null };
  if (head.length > MAX_HEAD) return { fields: NO_FIELDS, problem: 'its front matter is too long' };
  try {
    // An alias of YAML can make one short line as long as a book.
    const read = Head.safeParse(parse(head, { maxAliasCount: 0 }));
    if (read.success) return { fields: read.data, problem: null };
    return { fields: NO_FIELDS, problem: 'its front matter has no lists of words' };
  } catch {
    return { fields: NO_FIELDS, problem: 'its front matter is no YAML' };
  }
}

/** Leaves out the heading that the name is made of: the name stands above the text anyway. */
function withoutHeading(text: string, heading: string | undefined): string {
  if (heading === undefined || !/^#/.test(text)) return text;
  return text.slice(text.indexOf('\n') === -1 ? text.length : text.indexOf('\n')).trim();
}

function eachOnce(words: readonly string[], most: number): readonly string[] {
  const clean = words
    .map((word) => oneLine(word.replace(/^\[\[|\]\]$/g, '')))
    .filter((word) => word !== '');
  return [...new Set(clean)].slice(0, most);
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TERM);
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

import { parse } from 'yaml';
import { z } from 'zod';

/** The longest description, as the public format of agent skills has it. */
const MAX_DESCRIPTION = 1_024;
const MAX_WORDS = 20;
/** Name, as models and file systems take it; any other falls back to the name of the folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Things that a skill needs where it runs; an empty list is no demand. */
export type Requirements = {
  /** Programs, all of them. */
  readonly bins: readonly string[];
  /** Programs, at least one of them. */
  readonly anyBins: readonly string[];
  /** Environment variables. */
  readonly env: readonly string[];
  /** Tools of the turn, all of them. A `*` at the end stands for any. */
  readonly tools: readonly string[];
  /** Tools of the turn, at least one of them. */
  readonly anyTools: readonly string[];
  /** Operating systems as Node names them, at least one of them. */
  readonly os: readonly string[];
};

/** One `SKILL.md`, read. */
export type SkillFile = {
  readonly name: string;
  readonly description: string;
  /** True if its body is shown in every turn. */
  readonly always: boolean;
  readonly requires: Requirements;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly allowedTools: string | null;
  /** The text below the front matter. */
  readonly body: string;
  /** An oddity of the file, which was read anyway, in a few words; null for none. */
  readonly note: string | null;
};

/**
 * Reads a `SKILL.md` as other assistants write them: with a byte order mark, any line ends, several lines of
 * description, front matter that is no YAML, or none.
 *
 * @param folder its name stands for a name that is missing or cannot be used
 * @throws Error with what is missing where nothing says what the skill is for
 */
export function parseSkillFile(text: string, folder: string): SkillFile {
  const plain = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const [whole = '', head] = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(plain) ?? [];
  const body = plain.slice(whole.length).trim();
  const { fields, note } = fieldsOf(whole === '' ? null : (head ?? ''));
  const own = Fields.parse(fields);
  const described = oneLine(own.description ?? firstWords(body)).slice(0, MAX_DESCRIPTION);
  if (described === '') throw new Error('it has no description, and no text to take one from');
  const vendors = vendorsOf(fields['metadata']);
  const all = [own.requires, ...vendors.map(({ requires }) => requires)];
  const from = (key: keyof Wanted) => [...new Set(all.flatMap((wanted) => wanted[key]))];
  return {
    name: own.name !== null && NAME.test(own.name) ? own.name : folder,
    description: described,
    always: own.always || own.load === 'always' || vendors.some(({ always }) => always),
    requires: {
      bins: from('bins'),
      anyBins: from('anyBins'),
      env: from('env'),
      tools: from('tools'),
      anyTools: from('anyTools'),
      os: [...new Set(vendors.flatMap(({ os }) => os))],
    },
    license: own.license,
    compatibility: own.compatibility,
    allowedTools: own['allowed-tools'],
    body,
    note,
  };
}

type Head = { readonly fields: Readonly<Record<string, unknown>>; readonly note: string | null };

/** Reads the front matter; null for a file without one. */
function fieldsOf(head: string | null): Head {
  if (head === null) return { fields: {}, note: 'it has no front matter' };
  try {
    const parsed: unknown = parse(head, {
      logLevel: 'error',
      uniqueKeys: false,
      maxAliasCount: 10,
    });
    const fields = z.record(z.string(), z.unknown()).safeParse(parsed ?? {});
    if (fields.success) return { fields: fields.data, note: null };
  } catch {
    // Such as `description: Use when: asked`, which many have: read line by line below.
  }
  return {
    fields: linesOf(head),
    note: 'its front matter is not a valid YAML, and was read by lines',
  };
}

/** Reads `key: text` lines; indented lines go on with the text before them. */
function linesOf(head: string): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  let last = '';
  for (const line of head.split('\n')) {
    const [, key, value = ''] = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line) ?? [];
    if (key !== undefined) {
      last = key;
      fields.set(key, /^[|>][+-]?$/.test(value) ? '' : unquoted(value));
    } else if (/^\s+\S/.test(line) && last !== '') {
      fields.set(last, `${fields.get(last)} ${line.trim()}`.trim());
    }
  }
  return Object.fromEntries(fields);
}

function unquoted(value: string): string {
  const [, , inside] = /^(["'])(.*)\1\s*$/.exec(value) ?? [];
  return inside ?? value.trim();
}

/** A word or a list of them; anything else is none. */
const Words = z
  .union([z.string().transform((text) => text.split(/[\s,]+/)), z.array(z.unknown())])
  .transform((given) => {
    const all: readonly unknown[] = given;
    return all
      .filter((word) => typeof word === 'string')
      .filter((word) => /^[\w.+*/@-]{1,64}$/.test(word))
      .slice(0, MAX_WORDS);
  })
  .catch([]);

const NOTHING = { bins: [], anyBins: [], env: [], tools: [], anyTools: [] };

const Wanted = z
  .object({
    bins: Words.default([]),
    anyBins: Words.default([]),
    env: Words.default([]),
    tools: Words.default([]),
    anyTools: Words.default([]),
  })
  .catch(NOTHING);
type Wanted = z.output<typeof Wanted>;

const Text = z
  .union([z.string(), z.number(), z.array(z.string()).transform((all) => all.join(' '))])
  .transform((text) => oneLine(String(text)) || null)
  .nullable()
  .catch(null)
  .default(null);

const Always = z
  .union([z.boolean(), z.string().transform((text) => text.toLowerCase() === 'true')])
  .catch(false)
  .default(false);

const Fields = z.object({
  name: Text,
  description: Text,
  always: Always,
  load: Text,
  requires: Wanted.default(NOTHING),
  license: Text,
  compatibility: Text,
  'allowed-tools': Text,
});

const Vendor = z.object({
  always: Always,
  requires: Wanted.default(NOTHING),
  os: Words.default([]),
});

/** Returns what `metadata` says below the name of some assistant; it may be JSON in a string. */
function vendorsOf(metadata: unknown): readonly z.output<typeof Vendor>[] {
  const given = typeof metadata === 'string' ? parseJson(metadata) : metadata;
  const named = z.record(z.string(), z.unknown()).safeParse(given);
  if (!named.success) return [];
  return Object.values(named.data).flatMap((one) => Vendor.safeParse(one).data ?? []);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text of its author's; it demands nothing.
    return null;
  }
}

/** Returns the first words of a body that are no heading. */
function firstWords(body: string): string {
  const paragraphs = body.split(/\n\s*\n/).map((one) => one.replace(/^#+[^\n]*\n?/gm, '').trim());
  const first = paragraphs.find((one) => one !== '') ?? body.replace(/^#+\s*/, '');
  return first.slice(0, 300);
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

import type { TreeFile } from '@patchclaw/merge';

/** The line that separates what a case gives from what comes of it. */
const RULER = '== outcome\n';
const SIGNS = { '␍': '\r', '␂': '\uFEFF', '␀': '\0' } as const;

/** A heading with the text below it, up to the next heading. */
export type Section = {
  /** The heading without its flags: `layer telegram: modify src/a.ts`. */
  readonly words: string;
  /** Words in parentheses at the end of the heading: `executable`, `base as release`. */
  readonly flags: ReadonlySet<string>;
  /** The text with its signs replaced by the characters that they mean. */
  readonly text: string;
};

/** A golden file, taken apart. */
export type GoldenText = {
  /** The first line. */
  readonly title: string;
  readonly sections: readonly Section[];
  /** The part that a person writes, byte for byte: all lines above the ruler. */
  readonly given: string;
  /** The part that `UPDATE_GOLDEN=1` writes; null in a file that has no ruler yet. */
  readonly outcome: string | null;
};

/** Reads a golden file. Every line that begins with `-- ` is a heading. */
export function readGolden(golden: string): GoldenText {
  const [given = '', outcome = null] = golden.split(`\n${RULER}`);
  const [head = '', ...parts] = given.split(/^-- /m);
  const [title = ''] = head.split('\n');
  return {
    title,
    sections: parts.map((part, index) =>
      readSection(index < parts.length - 1 || outcome === null ? part : `${part}\n`),
    ),
    given: outcome === null ? given : `${given}\n`,
    outcome,
  };
}

/** Writes a golden file with another outcome. */
export function withOutcome({ given }: GoldenText, outcome: string): string {
  return `${given}${RULER}${outcome}`;
}

/** Writes a section of an outcome. */
export function sectionText(heading: string, flags: readonly string[], text: string): string {
  const shown = flags.map((flag) => ` (${flag})`).join('');
  return `-- ${heading}${shown}\n${toSigns(text)}`;
}

/** Returns the file that a section describes; null where it is flagged as absent. */
export function fileOf({ flags, text }: Section): TreeFile | null {
  if (flags.has('absent')) return null;
  return { bytes: Buffer.from(text), isExecutable: flags.has('executable') };
}

function readSection(part: string): Section {
  const [heading = '', ...lines] = part.split('\n');
  const flags = [...heading.matchAll(/ \(([^)]+)\)/g)].map(([, flag = '']) => flag);
  return {
    words: heading.replaceAll(/ \([^)]+\)/g, ''),
    flags: new Set(flags),
    text: fromSigns(lines.join('\n')),
  };
}

function fromSigns(text: string): string {
  return text.replace(/␄\n$/, '').replaceAll(/[␍␂␀]/g, (sign) => SIGNS[sign as keyof typeof SIGNS]);
}

function toSigns(text: string): string {
  const signs = Object.entries(SIGNS);
  const shown = signs.reduce((all, [sign, meant]) => all.replaceAll(meant, sign), text);
  return shown === '' || shown.endsWith('\n') ? shown : `${shown}␄\n`;
}

/** Control characters other than line feed, carriage return, tab and the next-line of old mainframes. */
const CONTROLS = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F]/g;

/** A flag such as that of Scotland is a black flag with letters that are not seen, and an end. */
const FLAG = '\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,10}\u{E007F}';
/** Letters that are not seen, in other places. */
const TAGS = '[\u{E0000}-\u{E007F}]+';
/** Variants of a letter, one after the other: each can stand for a byte. One alone is a variant. */
const VARIANTS = '[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2,}';
const HIDDEN = new RegExp(`${FLAG}|${TAGS}|${VARIANTS}`, 'gu');

/** Not seen, and with a meaning in scripts that join or part their letters: only among Latin ones and the like. */
const NO_SIGHT =
  '\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200D\u2060-\u2064\u206A-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0';
const PLAIN = '[\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{Nd}]';
const INVISIBLE_IN_WORD = new RegExp(`(?<=${PLAIN})[${NO_SIGHT}]+(?=${PLAIN})`, 'gu');

/** Turns the order around in which characters are shown. Text from right to left needs no such thing. */
const OVERRIDES = /[\u202D\u202E]/g;

/** More marks on one letter than any script has. */
const HEAPED_MARKS = /\p{M}{9,}/gu;

const ANY = /[^\n\r\t\x20-\x7E\u00A0-\u00AC\u00AE-\u02FF]/;

/** Text with what is not seen in it made visible, and how much of each kind that was. */
export type VisibleText = {
  readonly text: string;
  readonly controls: number;
  /** Hidden texts, as far as they can be read. */
  readonly hidden: readonly string[];
  readonly invisible: number;
  readonly overrides: number;
  readonly heaped: number;
};

/**
 * Takes control characters out of a text and makes hidden letters visible. Every other character stays: emoji, all
 * scripts, their joiners, marks and directions.
 */
export function makeVisible(text: string): VisibleText {
  const nothing = { text, controls: 0, hidden: [], invisible: 0, overrides: 0, heaped: 0 };
  if (!ANY.test(text)) return nothing;
  const clean = text.replace(CONTROLS, '');
  const hidden: string[] = [];
  const visible = clean.replace(HIDDEN, (run) => {
    // Flags, and the variant of an emoji, begin with or are what is seen.
    if (run.startsWith('\u{1F3F4}')) return run;
    const letters = readHidden(run);
    hidden.push(letters);
    return `⟪hidden text: ${letters}⟫`;
  });
  return {
    text: visible,
    controls: text.length - clean.length,
    hidden,
    invisible: countOf(visible, INVISIBLE_IN_WORD),
    overrides: countOf(visible, OVERRIDES),
    heaped: countOf(visible, HEAPED_MARKS),
  };
}

function readHidden(run: string): string {
  const codes = [...run].map((character) => character.codePointAt(0) ?? 0);
  const bytes = codes.map((code) => {
    if (code < 0xfe10) return code - 0xfe00;
    return code < 0xe0100 ? code - 0xe0000 : code - 0xe0100 + 16;
  });
  const text = Buffer.from(bytes).toString('utf8');
  return text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, 2_000) || 'unreadable';
}

function countOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

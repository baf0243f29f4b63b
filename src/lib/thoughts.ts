/**
 * Takes thoughts out of a model's text.
 *
 * Servers that do not know a model leave its thoughts in what it says: between tags such as `<think>`, or in a channel
 * of their own. Text in code, which may be about such tags, stays as it is.
 */

const NAMES = 'think|thinking|thoughts?|reasoning|seed:think|antthinking|antml:thinking|reason';
const CHANNEL = '(?:<\\|start\\|>\\s*assistant\\s*)?<\\|channel\\|?>';
/** The beginning of a thought. */
const OPEN = [
  `<(?:${NAMES})(?:\\s[^<>]{0,80})?>`,
  '◁think▷',
  '\\[THINK\\]',
  '<\\|(?:begin_of_thought|thinking|think)\\|>',
  `${CHANNEL}\\s*(?:analysis|commentary|thought)[^<]{0,80}(?:<\\|constrain\\|>[^<]{0,20})?(?:<\\|message\\|>)?`,
];
/** The end of one, whichever. */
const CLOSE = [
  `</(?:${NAMES})\\s*>`,
  '◁/think▷',
  '\\[/THINK\\]',
  '<\\|(?:end_of_thought|/thinking|/think)\\|>',
  '<\\|(?:end|call|return)\\|>',
  '<channel\\|>',
  `${CHANNEL}\\s*final\\s*(?:<\\|message\\|>)?`,
];
/** Closing tags that only a thought has: what is before one was a thought, also where its beginning is not there. */
const ORPHAN = CLOSE.slice(0, 4);
/** Marks between channels, which are not text. */
const TOKENS = [
  `${CHANNEL}\\s*final\\s*(?:<\\|message\\|>)?`,
  '<\\|(?:end|return|message|call)\\|>',
  '<\\|start\\|>\\s*assistant',
];
const SPECIAL = new RegExp(
  `(?<open>${OPEN.join('|')})|(?<orphan>${ORPHAN.join('|')})|(?<token>${TOKENS.join('|')})|(?<ticks>\`+)|(?<fence>~~~+)|(?<line>\\n)`,
  'gi',
);
const END = new RegExp(CLOSE.join('|'), 'i');
/** Longer than any tag with what may stand in it. */
const LONGEST_TAG = 160;
/** The end of a text that may go on as a tag. */
const UNFINISHED =
  /(?:<[^<>\n]{0,120}|◁[^▷]{0,8}|\[\/?[A-Z]{0,5}|<\|start\|>[^<\n]{0,20}|<\|channel\|?>[^<\n]{0,100})$/i;
const MAYBE_TAG = new RegExp(
  `^(?:</?[a-z:]{0,14}|</?(?:${NAMES})\\s.*|<\\|.*|<channel\\|?|◁.*|\\[/?T?H?I?N?K?)$`,
  'is',
);
/** A tag in the middle of a line may be what the text is about: so much is waited for until its end tells. */
const MAX_HELD = 262_144;

/** Takes thoughts out of a text that comes in pieces. */
export class ThoughtFilter {
  readonly #mayBeginInThought: boolean;
  #hasBegun = false;
  #pending = '';
  #isThought = false;
  #isLineStart = true;
  #fence: string | null = null;
  /** Blank lines around a thought go with it. */
  #skipsSpace = false;
  /** True where a thought was left open at the end. */
  endsInThought = false;
  /** True once a thought ended that had no beginning: all before it was one. */
  beganInThought = false;

  /** @param mayBeginInThought whether this model leaves the beginning out: then nothing is told before its end */
  constructor(mayBeginInThought = false) {
    this.#mayBeginInThought = mayBeginInThought;
  }

  /** Returns the text in what came so far that is certainly none of a thought. */
  push(delta: string): string {
    this.#pending += delta;
    return this.#read(false);
  }

  /** Returns the rest. */
  end(): string {
    const rest = this.#read(true);
    this.endsInThought = this.#isThought;
    return rest;
  }

  #read(isEnd: boolean): string {
    if (this.#mayBeginInThought && !this.#hasBegun) {
      const hasEnd = END.test(this.#pending);
      if (!hasEnd && !isEnd) return '';
      this.#hasBegun = true;
      this.#isThought = hasEnd;
    }
    let said = '';
    const say = (text: string): void => {
      said += text;
      const tail = text.slice(text.lastIndexOf('\n') + 1);
      if (text !== '')
        this.#isLineStart = (text.includes('\n') || this.#isLineStart) && tail.trim() === '';
    };
    for (;;) {
      if (this.#isThought) {
        if (!this.#dropThought(isEnd)) return said;
        continue;
      }
      const step = this.#nextText(isEnd);
      if (step === null) return said;
      if (step.forget) {
        said = '';
        this.#isLineStart = true;
        this.beganInThought = true;
      } else say(step.text);
    }
  }

  /** Drops what is pending of a thought. Returns whether it has ended. */
  #dropThought(isEnd: boolean): boolean {
    const end = END.exec(this.#pending);
    if (end === null) {
      this.#pending = isEnd ? '' : this.#pending.slice(-LONGEST_TAG);
      return false;
    }
    const after = this.#pending.slice(end.index + end[0].length);
    this.#pending = after;
    this.#skipsSpace = this.#isLineStart;
    this.#isThought = false;
    return true;
  }

  /** Takes the next piece of text off the front; null where more has to come first. */
  #nextText(isEnd: boolean): { readonly text: string; readonly forget: boolean } | null {
    if (this.#skipsSpace) this.#pending = this.#pending.trimStart();
    const { length } = this.#pending;
    if (length === 0) return null;
    this.#skipsSpace = false;
    if (!isEnd && this.#isLineStart && /^~{1,2}$/.test(this.#pending)) return null;
    if (this.#fence !== null) return this.#nextOfFence(isEnd);
    SPECIAL.lastIndex = 0;
    const found = SPECIAL.exec(this.#pending);
    const unfinished = isEnd ? null : UNFINISHED.exec(this.#pending);
    const isHeld = unfinished !== null && MAYBE_TAG.test(unfinished[0]);
    const whole = isHeld ? unfinished.index : length;
    if (found === null || found.index >= whole) return whole === 0 ? null : this.#taken(whole);
    if (found.index > 0) return this.#taken(found.index);
    const { open, orphan, token, ticks, fence } = found.groups ?? {};
    const [all] = found;
    if (open !== undefined) return this.#nextOfTag(all, isEnd);
    if (orphan !== undefined) {
      this.#pending = this.#pending.slice(all.length);
      this.#skipsSpace = true;
      return { text: '', forget: true };
    }
    if (token !== undefined) {
      this.#pending = this.#pending.slice(all.length);
      return { text: '', forget: false };
    }
    if (ticks !== undefined || fence !== undefined) return this.#nextOfCode(all, isEnd);
    return this.#taken(1);
  }

  #nextOfTag(tag: string, isEnd: boolean): { text: string; forget: boolean } | null {
    const rest = this.#pending.slice(tag.length);
    if (this.#isLineStart || END.test(rest)) {
      this.#pending = rest;
      this.#isThought = true;
      return { text: '', forget: false };
    }
    if (!isEnd && this.#pending.length < MAX_HELD) return null;
    return this.#taken(tag.length);
  }

  #nextOfCode(ticks: string, isEnd: boolean): { text: string; forget: boolean } | null {
    const { length } = ticks;
    if (!isEnd && length === this.#pending.length) return null;
    if (length >= 3 && this.#isLineStart) {
      this.#fence = ticks;
      return this.#taken(length);
    }
    if (ticks.startsWith('~')) return this.#taken(length);
    const line = this.#pending.slice(length);
    const lineEnd = line.indexOf('\n');
    const inLine = lineEnd === -1 ? line : line.slice(0, lineEnd);
    const close = new RegExp(`(?<!\`)\`{${length}}(?!\`)`).exec(inLine);
    if (close !== null && (isEnd || close.index + length < line.length)) {
      return this.#taken(length + close.index + length);
    }
    return lineEnd === -1 && !isEnd ? null : this.#taken(length);
  }

  /** Passes a line of code on, whatever is in it. */
  #nextOfFence(isEnd: boolean): { text: string; forget: boolean } | null {
    const fence = this.#fence ?? '';
    const lineEnd = this.#pending.indexOf('\n');
    const line = lineEnd === -1 ? this.#pending : this.#pending.slice(0, lineEnd);
    if (lineEnd === -1 && !isEnd && this.#isLineStart && /^\s*[`~]*\s*$/.test(line)) return null;
    const isClosing =
      this.#isLineStart && line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim());
    if (isClosing) this.#fence = null;
    return this.#taken(lineEnd === -1 ? this.#pending.length : lineEnd + 1);
  }

  #taken(length: number): { text: string; forget: boolean } {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return { text, forget: false };
  }
}

/** Returns a whole text without thoughts. */
export function withoutThoughts(text: string): string {
  const filter = new ThoughtFilter();
  return filter.push(text) + filter.end();
}

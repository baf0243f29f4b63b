import type { ConsoleLine } from '../channels/console-port.ts';
import type { AnswerEnd } from '../lib/answer-end.ts';

/** A line that a speaker has said no longer last, so that the answer below others needs its name. */
export type EarlierQuestion = {
  readonly text: string;
  /** Equal for two answers where nothing was said between them. */
  readonly key: string;
};

/** A source of lines: the terminal, or a connected shell. */
export type Speaker = {
  /**
   * Piped input: a line is said only when the one before is answered, or when work on that one asks a question
   * which it may answer.
   */
  readonly isOneByOne: boolean;
  /** Called when work on one of its lines has ended; its next line follows after this. */
  acknowledged(end: AnswerEnd): void;
  /** Called when its next line would answer a question: work on all that it has said asks one. */
  asked(): void;
};

export interface Lines {
  /** Keeps a line until an assistant has stored it. */
  add(speaker: Speaker, text: string): void;
  /** Ends the input. */
  end(): void;
  /**
   * Connects an assistant. It gets every line that is not stored, also those that an earlier one was given.
   */
  attach(send: (line: ConsoleLine) => void): void;
  detach(): void;
  stored(number: number): void;
  /** Marks everything up to this line as answered. */
  acknowledged(number: number): void;
  /** Work on these lines has ended like this, whatever else waits. */
  answered(ids: readonly string[], end: AnswerEnd): void;
  /** Work on these lines waits for an answer to a question, or does not any more. */
  asking(ids: readonly string[], isOpen: boolean): void;
  /** Returns those who said these lines and wait for the answer. */
  speakersOf(ids: readonly string[]): readonly Speaker[];
  /**
   * Returns the last of these lines that this speaker said and waits for; null where it said none of them, or nothing
   * after it.
   */
  earlierQuestion(speaker: Speaker, ids: readonly string[]): EarlierQuestion | null;
  /** Tells whether a speaker waits for work on these lines, and for nothing else. */
  waitsOnlyFor(speaker: Speaker, ids: readonly string[]): boolean;
  /** Returns the last line that was stored and not acknowledged; null when there is none. */
  awaiting(): number | null;
  /** Tells whether nothing is waiting for its answer, and nothing for being said; of one speaker or of all. */
  isIdle(speaker?: Speaker): boolean;
}

export type LinesOptions = {
  /** Told apart from the numbers of any other run, so that no line is taken for one of those. */
  readonly runId: string;
  readonly now: () => number;
  /** Something was said or acknowledged, or the input ended: time to look at `isIdle`. */
  readonly onChange: () => void;
};

type WaitingLine = {
  readonly speaker: Speaker;
  readonly text: string;
  readonly typedAt: number;
  /** Counts all that was said. */
  readonly said: number;
};
type OpenLine = {
  readonly speaker: Speaker;
  readonly line: ConsoleLine;
  readonly said: number;
  isStored: boolean;
  isAsking: boolean;
};

/** Creates the queue of typed and piped lines, which survives restarts. */
export function openLines({ runId, now, onChange }: LinesOptions): Lines {
  let waiting: readonly WaitingLine[] = [];
  /** Handed over and not answered yet, in order. */
  let open: readonly OpenLine[] = [];
  let send: ((line: ConsoleLine) => void) | null = null;
  let count = 0;
  let saidCount = 0;
  /** By speaker, what it said last. */
  const newest = new WeakMap<Speaker, number>();

  const openOf = (speaker: Speaker) => open.filter((one) => one.speaker === speaker);
  /** A line is held back by each one before it that is neither answered nor asks for it. */
  const isHeld = (speaker: Speaker): boolean =>
    speaker.isOneByOne && openOf(speaker).some(({ isAsking }) => !isAsking);

  function tellAsked(speakers: ReadonlySet<Speaker>): void {
    for (const speaker of speakers) {
      const mine = openOf(speaker);
      if (mine.length > 0 && mine.every(({ isAsking }) => isAsking)) speaker.asked();
    }
  }

  /**
   * Hands lines over. A line gets its number at that moment, so that numbers tell which lines were stored.
   */
  function pump(): void {
    if (send === null) return;
    const held: WaitingLine[] = [];
    for (const said of waiting) {
      if (isHeld(said.speaker)) {
        held.push(said);
        continue;
      }
      count += 1;
      const { speaker, text, typedAt } = said;
      const line = { number: count, id: `${runId}-${count}`, text, typedAt };
      open = [...open, { speaker, line, said: said.said, isStored: false, isAsking: false }];
      send(line);
    }
    waiting = held;
  }

  function acknowledge(isAnswered: (one: OpenLine) => boolean, end: AnswerEnd): void {
    const answered = open.filter(isAnswered);
    if (answered.length === 0) return;
    open = open.filter((one) => !isAnswered(one));
    const speakers = new Set(answered.map(({ speaker }) => speaker));
    for (const speaker of speakers) speaker.acknowledged(end);
    tellAsked(speakers);
    pump();
    onChange();
  }

  return {
    add(speaker, text) {
      saidCount += 1;
      newest.set(speaker, saidCount);
      waiting = [...waiting, { speaker, text, typedAt: now(), said: saidCount }];
      pump();
      onChange();
    },
    end: onChange,
    attach(to) {
      send = to;
      for (const { line, isStored } of open) if (!isStored) to(line);
      pump();
    },
    detach() {
      send = null;
      // What it had asked is asked again by the next one.
      for (const one of open) one.isAsking = false;
    },
    stored(number) {
      for (const one of open) if (one.line.number <= number) one.isStored = true;
    },
    acknowledged: (number) => acknowledge(({ line }) => line.number <= number, 'answered'),
    answered: (ids, end) => acknowledge(({ line }) => ids.includes(line.id), end),
    asking(ids, isOpen) {
      const meant = open.filter(({ line }) => ids.includes(line.id));
      for (const one of meant) one.isAsking = isOpen;
      if (isOpen) tellAsked(new Set(meant.map(({ speaker }) => speaker)));
      pump();
    },
    speakersOf: (ids) => [
      ...new Set(open.filter(({ line }) => ids.includes(line.id)).map(({ speaker }) => speaker)),
    ],
    earlierQuestion(speaker, ids) {
      const last = openOf(speaker).findLast(({ line }) => ids.includes(line.id));
      const after = newest.get(speaker);
      if (last === undefined || last.said === after) return null;
      return { text: last.line.text, key: `${last.line.id} ${after}` };
    },
    waitsOnlyFor: (speaker, ids) =>
      openOf(speaker).every(({ line }) => ids.includes(line.id)) &&
      waiting.every((one) => one.speaker !== speaker),
    awaiting: () => open.findLast(({ isStored }) => isStored)?.line.number ?? null,
    isIdle: (speaker) =>
      [...waiting, ...open].every((one) => speaker !== undefined && one.speaker !== speaker),
  };
}

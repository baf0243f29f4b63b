import type { AnswerEnd } from '../lib/answer-end.ts';
import { shortened } from '../lib/graphemes.ts';
import type { GrowingText } from './console/live-markdown.ts';
import type { Listener } from './console/owner-console.ts';
import type { Lines, Speaker } from './lines.ts';

/** A party of the conversation with the assistant: the owner's terminal, or a shell. */
export type Client = Speaker &
  Omit<Listener, 'acknowledged'> & {
    /** True if it also sees messages that it did not ask for. */
    isWatching: boolean;
    /** Shows how far a command is: no answer. */
    progress(text: string): void;
  };

/** A text of the assistant's, with the ids of the lines that it answers or tells about. */
export type Printed = {
  readonly text: string;
  readonly answersTo: readonly string[];
  readonly isProgress: boolean;
  /** The draft that it is the end of. */
  readonly replaces?: string | null;
};

/** A piece of an answer that is being written, and what the assistant does meanwhile. */
export type Drafted = GrowingText & {
  readonly activity: string | null;
  readonly answersTo: readonly string[];
};

/** All clients, and the choice who of them sees which message. */
export interface Clients {
  join(client: Client): void;
  leave(client: Client): void;
  /** Shows a text to those who said the lines that it is about; with none of them, to all who watch. */
  print(printed: Printed): void;
  /** Says so to those who wait for nothing but these lines, and have seen no text since they said them. */
  ended(ids: readonly string[], end: AnswerEnd): void;
  /** Tells shells that wait or watch why nothing more will come. */
  tellShells(text: string, owner: Client): void;
  /** Shows an answer that is being written to those who will see it. */
  draft(drafted: Drafted): void;
  /** The draft with this id will not go on; without one, none will: the assistant has ended. */
  dropDraft(id?: string): void;
  name(): string;
  /** Sets the assistant's name, shown while it is typing. */
  setName(name: string): void;
  /** Sets the phase of the assistant as a whole; null for its ordinary work. */
  setPhase(phase: string | null): void;
  /** Shows all clients again what they wait for; called whenever that may have changed. */
  refresh(): void;
}

type ShownDraft = {
  readonly id: string;
  readonly activity: string | null;
  /** True once a part of it is on the screen. */
  readonly isShown: boolean;
};

/** Length to which a question is cut above its answer, so that it fits one row. */
const QUESTION_LENGTH = 60;

export function openClients(lines: () => Lines): Clients {
  const shown = new Map<Client, string | null>();
  let name = 'The assistant';
  let phase: string | null = null;
  /** By client, the draft that it sees, and what the assistant does meanwhile. */
  const drafts = new Map<Client, ShownDraft>();

  /** By client, the question that the text above is named after. */
  const named = new Map<Client, string>();

  /**
   * Names the question above its answer, where a person has said other things since. Without that a slow answer looks
   * like the answer to the last line.
   */
  function nameQuestion(client: Client, answersTo: readonly string[]): void {
    if (!client.isWatching || client.isOneByOne) return;
    const question = lines().earlierQuestion(client, answersTo);
    const isNamed = question !== null && named.get(client) === question.key;
    if (question === null) named.delete(client);
    else named.set(client, question.key);
    if (question === null || isNamed) return;
    client.notice(`Answer to: ${shortened(question.text.replace(/\s+/g, ' '), QUESTION_LENGTH)}`);
  }

  /** Clients that wait, and have seen a text since they began to. */
  const hasSeenText = new Set<Speaker>();

  function refresh(): void {
    for (const [client, before] of shown) {
      if (lines().isIdle(client)) hasSeenText.delete(client);
      const doing = drafts.get(client)?.activity ?? 'typing';
      const working = lines().isIdle(client) ? null : `${name} is ${doing}`;
      const activity = phase ?? working;
      if (activity === before) continue;
      shown.set(client, activity);
      client.setActivity(activity);
    }
  }

  /**
   * Finds those who said lines. A client who asked may have left: then all who watch see the answer, and it is not
   * lost.
   */
  function audienceOf(answersTo: readonly string[]): readonly Client[] {
    const asking = new Set<Speaker>(lines().speakersOf(answersTo));
    const everybody = [...shown.keys()];
    const present = everybody.filter((client) => asking.has(client));
    return present.length > 0 ? present : everybody.filter(({ isWatching }) => isWatching);
  }

  return {
    refresh,
    join(client) {
      shown.set(client, null);
      refresh();
    },
    leave(client) {
      shown.delete(client);
      drafts.delete(client);
      hasSeenText.delete(client);
      named.delete(client);
    },
    print({ text, answersTo, isProgress, replaces = null }) {
      for (const client of audienceOf(answersTo)) {
        if (isProgress) {
          client.progress(text);
          continue;
        }
        const draft = drafts.get(client);
        const isShown = draft?.id === replaces && draft.isShown;
        if (draft?.id === replaces) drafts.delete(client);
        if (!isShown) nameQuestion(client, answersTo);
        if (!lines().isIdle(client)) hasSeenText.add(client);
        client.print(text, replaces);
      }
    },
    ended(ids, end) {
      if (end === 'answered') return;
      const asking = new Set<Speaker>(lines().speakersOf(ids));
      for (const client of shown.keys()) {
        // The answer to `/stop` says enough to whoever said that.
        if (!asking.has(client) || hasSeenText.has(client)) continue;
        if (lines().waitsOnlyFor(client, ids)) client.print(WORDS[end]);
      }
    },
    tellShells(text, owner) {
      for (const client of shown.keys()) {
        const isWaiting = client.isWatching || !lines().isIdle(client);
        if (client !== owner && isWaiting) client.print(text);
      }
    },
    draft({ id, from, text, activity, answersTo }) {
      for (const client of audienceOf(answersTo)) {
        const before = drafts.get(client);
        const wasShown = before?.id === id && before.isShown;
        if (!wasShown && text !== '') nameQuestion(client, answersTo);
        drafts.set(client, { id, activity, isShown: wasShown || text !== '' });
        if (text !== '') client.grow({ id, from, text });
      }
      refresh();
    },
    dropDraft(id) {
      for (const [client, draft] of drafts) {
        if (id !== undefined && draft.id !== id) continue;
        drafts.delete(client);
        client.grow(null);
      }
      refresh();
    },
    name: () => name,
    setName(given) {
      name = given;
      refresh();
    },
    setPhase(given) {
      phase = given;
      refresh();
    },
  };
}

/** Said where the assistant itself said nothing, such as after a `/stop` from elsewhere. */
const WORDS: Readonly<Record<Exclude<AnswerEnd, 'answered'>, string>> = {
  failed: 'There is no answer: the turn failed. Say `/retry` to try again.',
  rejected: 'There is no answer: the model’s server refused this message.',
  'budget-used-up': 'There is no answer: the budget of the day is used up.',
  stopped: 'There is no answer: the turn was stopped.',
  'given-up': 'There is no answer: the assistant has given up. Ask in other words.',
  'no-model': 'There is no answer: no model is set up. Run `npx claw setup model`.',
  'no-sandbox': 'There is no answer: the sandbox cannot be used. `npx claw doctor` says why.',
};

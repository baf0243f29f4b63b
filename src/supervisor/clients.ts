import type { Listener } from '../terminal/owner-console.ts';
import type { Lines, Speaker } from './lines.ts';

/** A party of the conversation with the assistant: the owner's terminal, or a shell. */
export type Client = Speaker &
  Listener & {
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
};

/** All clients, and the choice who of them sees which message. */
export interface Clients {
  join(client: Client): void;
  leave(client: Client): void;
  /** Shows a text to those who said the lines that it is about; with none of them, to all who watch. */
  print(printed: Printed): void;
  name(): string;
  /** Sets the assistant's name, shown while it is typing. */
  setName(name: string): void;
  /** Sets the phase of the assistant as a whole; null for its ordinary work. */
  setPhase(phase: string | null): void;
  /** Shows all clients again what they wait for; called whenever that may have changed. */
  refresh(): void;
}

export function openClients(lines: () => Lines): Clients {
  const shown = new Map<Client, string | null>();
  let name = 'The assistant';
  let phase: string | null = null;

  function refresh(): void {
    for (const [client, before] of shown) {
      const working = lines().isIdle(client) ? null : `${name} is typing`;
      const activity = phase ?? working;
      if (activity === before) continue;
      shown.set(client, activity);
      client.setActivity(activity);
    }
  }

  return {
    refresh,
    join(client) {
      shown.set(client, null);
      refresh();
    },
    leave: (client) => void shown.delete(client),
    print({ text, answersTo, isProgress }) {
      const asking = new Set<Speaker>(lines().speakersOf(answersTo));
      const everybody = [...shown.keys()];
      const present = everybody.filter((client) => asking.has(client));
      // The client who asked may have left: then all who watch see the answer, and it is not lost.
      const shownTo =
        present.length > 0 ? present : everybody.filter(({ isWatching }) => isWatching);
      for (const client of shownTo) client[isProgress ? 'progress' : 'print'](text);
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

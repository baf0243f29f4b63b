/** Questions to the assistant what the beginning of a command can become. */
export interface Completions {
  /** Resolves with whole lines; with none where the assistant does not answer in time, or has ended. */
  ask(typed: string): Promise<readonly string[]>;
  answered(id: number, lines: readonly string[]): void;
  /** The assistant has ended: nothing is answered any more. */
  end(): void;
}

/** A person waits with the finger on Tab. */
const PATIENCE_MS = 2_000;

/** Asks by `send`, which carries an id that the answer has too. */
export function openCompletions(send: (id: number, typed: string) => void): Completions {
  const waiting = new Map<number, (lines: readonly string[]) => void>();
  let count = 0;
  const settle = (id: number, lines: readonly string[]): void => {
    waiting.get(id)?.(lines);
    waiting.delete(id);
  };
  return {
    async ask(typed) {
      count += 1;
      const id = count;
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      waiting.set(id, resolve);
      const timer = setTimeout(settle, PATIENCE_MS, id, []);
      send(id, typed);
      return await promise.finally(() => clearTimeout(timer));
    },
    answered: settle,
    end() {
      for (const id of waiting.keys()) settle(id, []);
    },
  };
}

/** Runs work of one key piece by piece, in the order in which it was asked for; of several side by side. */
export function oneByOne(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    // The result of the one before goes to its own caller.
    const mine = before.catch(() => {}).then(work);
    last.set(key, mine);
    const forget = (): void => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(forget, forget);
    return mine;
  };
}

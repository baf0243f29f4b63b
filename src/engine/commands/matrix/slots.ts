/** Runs work when there is room for it. */
export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** Room for so many at a time; who comes first is served first. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Runs work when there is room for it. */
export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** Limits how many pieces of work run at a time; the others wait in order. */
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

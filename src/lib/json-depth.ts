/** More levels than anything that people and programs send. Deeper JSON could not be printed again. */
export const MOST_LEVELS = 100;

/** Tells whether parsed JSON has more than `MOST_LEVELS` levels. */
export function isTooDeep(json: unknown): boolean {
  let level = [json];
  for (let depth = 0; depth <= MOST_LEVELS && level.length > 0; depth += 1) {
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return level.length > 0;
}

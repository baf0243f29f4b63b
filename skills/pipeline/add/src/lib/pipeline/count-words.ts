/** Returns a number with its noun: `1 rating`, `2 ratings`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

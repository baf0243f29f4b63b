import type { MemoryStatus } from './memory.ts';

/** Returns the state of the memory in one line. */
export function statusLine({ embedder, notes, embedded, refused, problem }: MemoryStatus): string {
  const waiting = notes - embedded - refused;
  const parts = [
    `${count(notes)} notes`,
    ...(waiting > 0 ? [`${count(waiting)} wait for their vector`] : []),
    ...(refused > 0 ? [`${count(refused)} were refused by the server`] : []),
    `embeddings by ${embedder}`,
    ...(problem === null ? [] : [`words alone for now: ${problem}`]),
  ];
  return parts.join(', ');
}

function count(value: number): string {
  return value.toLocaleString('en');
}

import type { MemoryStatus } from './memory.ts';

/** Returns the state of the memory in one line. */
export function statusLine({ embedder, notes, embedded, refused, problem }: MemoryStatus): string {
  const waiting = notes - embedded - refused;
  const parts = [
    countedNotes(notes),
    ...(waiting > 0
      ? [waiting === 1 ? '1 waits for its vector' : `${count(waiting)} wait for their vector`]
      : []),
    ...(refused > 0
      ? [`${count(refused)} ${refused === 1 ? 'was' : 'were'} refused by the server`]
      : []),
    `embeddings by ${embedder}`,
    ...(problem === null ? [] : [`words alone for now: ${problem}`]),
  ];
  return parts.join(', ');
}

/** Returns a number of notes in words. */
export function countedNotes(notes: number): string {
  return notes === 1 ? '1 note' : `${count(notes)} notes`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

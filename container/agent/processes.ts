import { readdirSync } from 'node:fs';

/** Counts the processes of this container, including its own; 0 if /proc cannot be read. */
export function countProcesses(): number {
  try {
    return readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length;
  } catch {
    // The count only decides whether the next turn gets a fresh container.
    return 0;
  }
}

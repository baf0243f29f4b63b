import type { Memory } from './memory.ts';

/** Memories at work in this process, by the assistant's data folder: tool, section and command find theirs here. */
const memories = new Map<string, Memory>();

/** Makes a memory known until the signal is aborted. */
export function offerMemory(dataDir: string, memory: Memory, signal: AbortSignal): void {
  memories.set(dataDir, memory);
  const end = () => {
    if (memories.get(dataDir) === memory) memories.delete(dataDir);
  };
  signal.addEventListener('abort', end, { once: true });
}

/** Returns the memory that works for a data folder; null while there is none. */
export function runningMemory(dataDir: string): Memory | null {
  return memories.get(dataDir) ?? null;
}

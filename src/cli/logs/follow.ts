import { watch } from 'node:fs';

/** Interval for looking again where the system reports no changes, such as on a network drive. */
const FALLBACK_MS = 1_000;

/** Calls `look` now, and after each change in a folder until the signal. The folder may come later. */
export async function followFolder(
  folder: string,
  look: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const stopWatching = startWatching(folder, look);
  const timer = setInterval(look, FALLBACK_MS);
  signal.addEventListener('abort', () => resolve());
  look();
  if (!signal.aborted) await ended;
  clearInterval(timer);
  stopWatching();
}

function startWatching(folder: string, look: () => void): () => void {
  try {
    const watcher = watch(folder, look);
    watcher.on('error', () => {});
    return () => watcher.close();
  } catch {
    return () => {}; // Not there yet, or the system has no more watches: the timer looks.
  }
}

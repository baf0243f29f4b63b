import { ClawError } from './errors.ts';

/**
 * Ends a command at a point where nothing has been changed yet.
 *
 * @throws ClawError INTERRUPTED
 */
export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new ClawError('INTERRUPTED', 'Interrupted; everything is as it was.');
}

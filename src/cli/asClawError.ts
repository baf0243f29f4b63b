import { inspect } from 'node:util';
import { ClawError } from '../engine/index.ts';

/**
 * Whatever a verb threw, as the one kind of error that commands report. A refusal of the machine
 * (no permission, no space) becomes IO_FAILED; anything else is a fault of claw itself.
 */
export function asClawError(error: unknown): ClawError {
  if (error instanceof ClawError) return error;
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') {
    const place = path === undefined ? '' : ` ${path}`;
    const message = `The system refused: ${syscall}${place} (${code}). Nothing was changed.`;
    return new ClawError('IO_FAILED', message, {
      path: path ?? null,
      data: { code },
      cause: error,
    });
  }
  const message = `claw itself has a fault, please report it: ${inspect(error)}`;
  return new ClawError('INTERNAL', message, { cause: error });
}

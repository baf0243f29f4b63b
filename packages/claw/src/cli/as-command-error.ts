import { inspect } from 'node:util';
import { ClawError } from '../commands.ts';
import { CliError, type CommandError } from './cli-error.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'your quota is used up (EDQUOT)',
  EACCES: 'you have no permission (EACCES)',
  EPERM: 'it is not allowed (EPERM)',
  EROFS: 'the disk is read-only (EROFS)',
};

/**
 * Turns anything that a verb threw into an error that commands report. A refusal of the machine
 * (no permission, no space) becomes IO_FAILED; anything else is a fault of claw itself.
 */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof ClawError || error instanceof CliError) return error;
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') {
    const place = path === undefined ? '' : ` ${path}`;
    const why = WORDS[code] ?? `${syscall} failed (${code})`;
    const message = `The system refused${place}: ${why}. Nothing was changed.`;
    return new ClawError('IO_FAILED', message, {
      path: path ?? null,
      data: { code },
      cause: error,
    });
  }
  const message = `claw itself has a fault, please report it: ${inspect(error)}`;
  return new ClawError('INTERNAL', message, { cause: error });
}

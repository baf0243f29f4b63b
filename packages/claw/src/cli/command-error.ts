import { inspect } from 'node:util';
import type { Outcome } from '../contract/result.ts';
import { ClawError, CodedError } from '../verbs.ts';

/** Codes of what the command line itself finds: no verb of the engine ends so. */
type CliErrorCode = 'SETUP_REFUSED' | 'ASSISTANT_STOPPED' | 'ASSISTANT_RUNNING' | 'VERB_FAILED';

/** An error of the command line itself, about the assistant. */
export class CliError extends CodedError<CliErrorCode> {
  /** See `ClawError`. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'CliError';
  }
}

/** An error that a verb of the command line ends with. */
export type CommandError = ClawError | CliError;

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'your quota is used up (EDQUOT)',
  EACCES: 'you have no permission (EACCES)',
  EPERM: 'it is not allowed (EPERM)',
  EROFS: 'the disk is read-only (EROFS)',
  SQLITE_FULL: 'the disk is full (SQLITE_FULL)',
  SQLITE_READONLY: 'you may not write to it (SQLITE_READONLY)',
  SQLITE_CANTOPEN: 'it cannot be opened (SQLITE_CANTOPEN)',
  SQLITE_PERM: 'you have no permission (SQLITE_PERM)',
  SQLITE_IOERR: 'the disk failed (SQLITE_IOERR)',
  SQLITE_BUSY: 'another program holds it (SQLITE_BUSY)',
};

/**
 * Turns anything that a verb threw into an error that commands report. A refusal by the machine (no permission, no
 * space) becomes IO_FAILED; anything else is a fault of claw itself.
 */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof ClawError || error instanceof CliError) return error;
  const { code, path, syscall } = Object(error) as NodeJS.ErrnoException;
  // An extended code, such as SQLITE_IOERR_WRITE, begins with its kind.
  const sqlite = /^SQLITE_[A-Z]+/.exec(typeof code === 'string' ? code : '')?.[0];
  if (sqlite !== undefined && WORDS[sqlite] !== undefined) {
    const message = `A database could not be used: ${WORDS[sqlite]}. Nothing was changed.`;
    return new ClawError('IO_FAILED', message, { data: { code }, cause: error });
  }
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

const BY_CODE: Partial<Record<CommandError['code'], number>> = {
  USAGE: 2,
  CHECKS_FAILED: 4,
  TESTS_FAILED: 4,
  NPM_FAILED: 4,
  LOCK_HELD: 5,
  RECOVERY_NEEDS_DECISION: 6,
};

const FAILURES: readonly CommandError['code'][] = [
  'CHECKS_FAILED',
  'TESTS_FAILED',
  'NPM_FAILED',
  'BACKUP_FAILED',
  'IO_FAILED',
  'VERB_FAILED',
  'INTERRUPTED',
  'INTERNAL',
];

/**
 * Returns the exit code of the command line's contract: 0 done, 1 refused or failed, 3 blocked, and by
 * error.
 */
export function exitCodeOf({
  outcome,
  error,
}: {
  readonly outcome: Outcome;
  readonly error: CommandError | null;
}): number {
  if (error) return BY_CODE[error.code] ?? 1;
  if (outcome === 'failed') return 1;
  return outcome === 'blocked' ? 3 : 0;
}

/** Returns the outcome that a thrown error gives to its verb. */
export function outcomeOf({ code }: CommandError): Outcome {
  if (code === 'LOCK_HELD') return 'locked';
  return FAILURES.includes(code) ? 'failed' : 'refused';
}

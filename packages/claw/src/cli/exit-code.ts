import type { CommandError } from './cli-error.ts';
import type { AnyResult } from './result.ts';

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
  'INTERRUPTED',
  'INTERNAL',
];

/**
 * Returns the exit code of the command line's contract: 0 done, 1 refused or failed, 3 blocked, and by
 * error.
 */
export function exitCodeOf({ outcome, error }: AnyResult): number {
  if (error) return BY_CODE[error.code] ?? 1;
  if (outcome === 'failed') return 1;
  return outcome === 'blocked' ? 3 : 0;
}

/** Returns the outcome that a thrown error gives to its verb. */
export function outcomeOf({ code }: CommandError): AnyResult['outcome'] {
  if (code === 'LOCK_HELD') return 'locked';
  return FAILURES.includes(code) ? 'failed' : 'refused';
}

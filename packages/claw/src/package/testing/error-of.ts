import { ClawError } from '../../errors.ts';

/** Returns the code and path of the error that an action throws, for tests; null when it throws none. */
export function errorOf(action: () => unknown): { code: string; path: string | null } | null {
  try {
    action();
    return null;
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return { code: error.code, path: error.path };
  }
}

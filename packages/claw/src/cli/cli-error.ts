import { type ClawError, CodedError } from '../commands.ts';

/** Codes of what the command line itself finds: no verb of the engine ends so. */
type CliErrorCode = 'SETUP_REFUSED' | 'ASSISTANT_STOPPED';

/** An error of the command line's own, about the assistant. */
export class CliError extends CodedError<CliErrorCode> {
  /** See `ClawError`. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'CliError';
  }
}

/** An error that a verb of the command line ends with. */
export type CommandError = ClawError | CliError;

/** Kinds of what can go wrong with a tool call, as the model reads them. */
export const TOOL_FAULTS = [
  'not-allowed',
  'not-found',
  'bad-arguments',
  'timeout',
  'failed',
  'unknown',
] as const;

/**
 * The kind of a failed tool call. `unknown`: nobody knows whether the call took effect. `failed`: none of the other
 * kinds.
 */
export type ToolFaultKind = (typeof TOOL_FAULTS)[number];

/** An error of a tool that knows its kind. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';
  readonly kind: ToolFaultKind;

  constructor(kind: ToolFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

const KIND_OF_CODE: Readonly<Record<string, ToolFaultKind>> = {
  EACCES: 'not-allowed',
  EPERM: 'not-allowed',
  EROFS: 'not-allowed',
  ENOENT: 'not-found',
  ENOTFOUND: 'not-found',
  EISDIR: 'bad-arguments',
  ENOTDIR: 'bad-arguments',
  ENAMETOOLONG: 'bad-arguments',
  ETIMEDOUT: 'timeout',
};
const KIND_OF_NAME: Readonly<Record<string, ToolFaultKind>> = {
  TimeoutError: 'timeout',
  ZodError: 'bad-arguments',
};

/** Returns the kind of an error that a tool has thrown: its own, or that of the system's code, its cause's included. */
export function faultKindOf(error: unknown): ToolFaultKind {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof ToolFault) return at.kind;
    const code = 'code' in at ? String(at.code) : '';
    const kind = KIND_OF_CODE[code] ?? KIND_OF_NAME[at.name];
    if (kind !== undefined) return kind;
  }
  return 'failed';
}

/** Returns an error of a tool as the model reads it: its kind, then the tool's own words, and nothing before them. */
export function withFaultKind(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new ToldError(`${faultKindOf(error)}: ${message}`, { cause: error });
}

class ToldError extends Error {
  override toString(): string {
    return this.message;
  }
}

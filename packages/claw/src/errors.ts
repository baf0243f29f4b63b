/** Every code that an error of the engine can carry. Callers branch on these, never on message text. */
export const ERROR_CODES = [
  // a package, its manifest or the state does not fit
  'YAML_INVALID',
  'SCHEMA_INVALID',
  'LIMIT_EXCEEDED',
  'NAME_INVALID',
  'VERSION_INVALID',
  'GRAPH_INVALID',
  'PATH_UNSAFE',
  'PATH_PROTECTED',
  'PATH_COLLISION',
  'LINK_REFUSED',
  'FILE_KIND',
  'FILE_MISSING',
  'FILE_UNDECLARED',
  'STRUCTURED_ONLY',
  'DEPENDENCY_REFUSED',
  'ENV_INVALID',
  'COMPOSE_REFUSED',
  'MARKERS_PRESENT',
  'SECRET_FOUND',
  'CORE_TOO_OLD',
  'DIGEST_MISMATCH',
  'STATE_INVALID',
  'RESOLUTION_INVALID',
  // a verb does not fit the situation
  'USAGE',
  'CONFIG_INVALID',
  'SKILL_NOT_FOUND',
  'SOURCE_FAILED',
  'SKILL_NOT_APPLIED',
  'SKILL_NEEDED',
  'SKILL_CONFLICT',
  'CONSENT_NEEDED',
  'ALREADY_APPLIED',
  'NOT_INITIALISED',
  'ALREADY_INITIALISED',
  'RELEASE_NOT_FOUND',
  'OPERATION_PENDING',
  'NOTHING_TO_UNDO',
  'STATE_CHANGED',
  'PLAN_CHANGED',
  // the machine, or another process, is in the way
  'LOCK_HELD',
  'TREE_CHANGED',
  'RECOVERY_NEEDS_DECISION',
  'IO_FAILED',
  'NPM_FAILED',
  'CHECKS_FAILED',
  'TESTS_FAILED',
  'BACKUP_FAILED',
  'INTERRUPTED',
  // the owner's model
  'MODEL_REFUSED',
  // a fault of claw's own
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * An error with a code from one list, which a result carries.
 *
 * @property code the kind of error, for programs
 * @property path the file concerned, or the place inside a file (`manifest.yaml:structured.env_additions.0`),
 *   or null
 * @property data the facts of the message
 */
export class CodedError<Code extends string> extends Error {
  readonly code: Code;
  readonly path: string | null;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: Code,
    message: string,
    detail: {
      path?: string | null;
      data?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = new.target.name;
    this.code = code;
    this.path = detail.path ?? null;
    this.data = detail.data ?? {};
  }
}

/** The one error that the engine throws. A merge conflict is a value, never an error. */
export class ClawError extends CodedError<ErrorCode> {
  /** One of another copy of this module counts too: a process may hold the engine's sources beside what is built. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'ClawError';
  }
}

/**
 * Returns a name as one word of a shell, which takes nothing in it for a command. Names of files, refs and remotes come
 * from strangers, and owners copy printed commands into their shell.
 */
export function shellWord(name: string): string {
  return /^[\w./@:+,-][\w./@:+,=#-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** Returns names as the words of a printed command, with a space between them. */
export function shellWords(names: readonly string[]): string {
  return names.map((name) => shellWord(name)).join(' ');
}

import { plainToolSchema, problemOfTool } from '../../lib/tool-schema.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A tool that a model cannot be offered, and the end of a sentence about why. */
export type LeftOutTool = { readonly name: string; readonly why: string };

/** A request as every server of its protocol takes it. */
export type FittedRequest = { readonly request: Fields; readonly leftOut: readonly LeftOutTool[] };

/** Replaces an empty message: servers refuse empty messages, and the roles of messages must alternate. */
export const NOTHING = '(nothing)';

/** Tools as they are declared, whatever the protocol. */
export type DeclaredTool = {
  readonly name: string;
  readonly schema: Fields;
  readonly given: Fields;
};

/** Sorts tools into those that a server takes, with their schemas rewritten, and those that are left out. */
export function fitTools(
  tools: readonly DeclaredTool[],
  most: number,
): {
  readonly taken: readonly (DeclaredTool & { readonly schema: Fields })[];
  readonly leftOut: readonly LeftOutTool[];
} {
  const leftOut: LeftOutTool[] = [];
  const taken = new Map<string, DeclaredTool>();
  for (const tool of tools) {
    const why =
      problemOfTool(tool.name, tool.schema) ??
      (taken.size >= most && !taken.has(tool.name) ? `the model takes ${most} tools` : null);
    if (why === null) taken.set(tool.name, { ...tool, schema: plainToolSchema(tool.schema) });
    else leftOut.push({ name: tool.name, why });
  }
  return { taken: [...taken.values()], leftOut };
}

/** Returns a name of a tool that a model called, in signs that servers take. It need not be a tool that there is. */
export function calledName(name: unknown): string {
  const plain = String(name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_');
  return plain === '' ? 'unknown' : plain.slice(0, 64);
}

/**
 * Gives calls of tools ids that a server takes and that are used once, and their results the same.
 *
 * Some models count their calls anew in each answer, so an id names a call of the newest answer only.
 */
export class CallIds {
  readonly #pattern: RegExp;
  readonly #used = new Set<string>();
  #open = new Map<string, string[]>();

  /** @param pattern of ids that the server takes */
  constructor(pattern: RegExp) {
    this.#pattern = pattern;
  }

  /** Begins an answer: results that come now are of its calls. */
  begin(): void {
    this.#open = new Map();
  }

  /** Returns the id for a call of this answer. */
  call(given: unknown): string {
    const id = typeof given === 'string' ? given : '';
    const fitting = this.#pattern.test(id) ? id : `call_${plainDigest(id)}`;
    let free = fitting;
    for (let next = 2; this.#used.has(free); next += 1) free = `${fitting.slice(0, 32)}_${next}`;
    this.#used.add(free);
    this.#open.set(id, [...(this.#open.get(id) ?? []), free]);
    return free;
  }

  /** Returns the id for a result, each once; null where this answer has no such call. */
  result(given: unknown): string | null {
    const id = typeof given === 'string' ? given : '';
    return this.#open.get(id)?.shift() ?? null;
  }

  /** Returns the calls of this answer that have no result yet. */
  unanswered(): readonly string[] {
    const ids = [...this.#open.values()].flat();
    this.#open = new Map();
    return ids;
  }
}

/** The same short id for the same text, without a hash that a reader of logs could not follow. */
function plainDigest(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 24) || '0';
}

export function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

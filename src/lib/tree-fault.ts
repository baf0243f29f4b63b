/** A fault of a file of this tree that keeps the assistant from starting; the message names the file. */
export class TreeFault extends Error {
  override readonly name = 'TreeFault';
}

const files = new WeakMap<object, string>();

/** Notes the file that a discovered definition, or something made from it, comes from; null for none. */
export function noteFile(definition: unknown, file: string | null): void {
  if (typeof definition !== 'object' || definition === null || file === null) return;
  files.set(definition, file);
}

/** Returns the file that a definition, or something made from it, comes from; null if no file exports it. */
export function fileOf(definition: object): string | null {
  return files.get(definition) ?? null;
}

/** Makes the fault of a file out of an error thrown in it, with the line. */
export function faultIn(file: string, what: string, cause: unknown): TreeFault {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const place = placeIn(cause);
  const isHere = place?.path === file;
  const where = place === null ? '' : ` (${isHere ? '' : `${place.path}, `}line ${place.line})`;
  return new TreeFault(`${file} ${what}: ${reason}${where}`, { cause });
}

/** Finds where an error was thrown: before its name for one of syntax, else in its first frame. */
function placeIn(error: unknown): { readonly path: string; readonly line: string } | null {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const found = /^(?:\s+at .*?)?(?:file:\/\/)?(\/[^\s():]+):(\d+)(?::\d+)?\)?$/m.exec(stack);
  const [, path, line] = found ?? [];
  return path === undefined || line === undefined ? null : { path, line };
}

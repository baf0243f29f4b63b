/** Letters, digits and a few signs that mean nothing to any part of a URL. */
const ROUTE_PATH = /^(\/|(\/[A-Za-z0-9_.~-]+)*(\/\*|\/)?)$/;

/** Tells whether a route may have this path. */
export function isRoutePath(path: string): boolean {
  return path.startsWith('/') && ROUTE_PATH.test(path) && segmentsOf(path) !== null;
}

/**
 * Splits the path of a request into its decoded segments; one slash at the end does not count.
 *
 * @returns null for every path that two programs could read as different ones: with `.` or `..`, an empty
 * segment, an encoded slash, a backslash, a control character, or a whole address in place of a path
 */
export function segmentsOf(path: string): readonly string[] | null {
  if (!path.startsWith('/')) return null;
  const inner = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined);
  if (inner === '') return path.length > 1 ? null : [];
  const segments = inner.split('/').map(decoded);
  return segments.every(isPlain) ? segments : null;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null; // No valid encoding, which the caller refuses.
  }
}

function isPlain(segment: string | null): segment is string {
  return (
    segment !== null &&
    segment !== '' &&
    segment !== '.' &&
    segment !== '..' &&
    !/[/\\\u0000-\u001f\u007f]/.test(segment)
  );
}

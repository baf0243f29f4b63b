import type { Route } from './route.ts';

/** A route, and the service that answers on it. */
export type Registered = { readonly service: string; readonly route: Route };

/** The route of a request, with the rest of the path below it; or only routes for other methods. */
export type FoundRoute =
  | { readonly kind: 'found'; readonly registered: Registered; readonly rest: string }
  | { readonly kind: 'other-method'; readonly methods: readonly Route['method'][] };

/** The routes of all services, each below the name of its own. */
export interface RouteTable {
  /**
   * @returns the path of the route, and what takes it out again
   * @throws where the path cannot be one of a route, or is taken
   */
  add(service: string, route: Route): { readonly path: string; readonly remove: () => void };
  /** Finds the route of a path: the exact one before one that takes all below it. */
  find(segments: readonly string[], method: string): FoundRoute | null;
  /** Returns the paths of pages that can be looked at, sorted. */
  pages(): readonly string[];
}

const METHODS: readonly Route['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Ends the key of a route that takes all below it. No path of a request holds such a character. */
const BELOW = '/\0';

/** Creates a table without routes. */
export function createRouteTable(): RouteTable {
  const routes = new Map<string, Registered>();
  return {
    add(service, route) {
      if (!/^[a-z0-9][a-z0-9_-]*$/i.test(service)) {
        throw new Error(
          `A service with a route has a name of letters, digits, - and _, not ${service}.`,
        );
      }
      if (!isRoutePath(route.path)) {
        throw new Error(
          `A route of ${service} cannot have the path "${route.path}". It begins with a slash, such as /push or /push/today; the parts between slashes are letters, digits and . _ ~ -, and /push/* takes all below it.`,
        );
      }
      const isBelow = route.path.endsWith('/*');
      const path = `/${service}${route.path.replace(/\/\*?$/, '')}`;
      const key = `${route.method} ${path}${isBelow ? BELOW : ''}`;
      if (routes.has(key)) throw new Error(`There is a route ${route.method} ${path} already.`);
      const registered = { service, route };
      routes.set(key, registered);
      const remove = (): void => {
        if (routes.get(key) === registered) routes.delete(key);
      };
      return { path, remove };
    },
    find(segments, method) {
      const below = segments.map(
        (_, at) => [keyOf(segments.slice(0, at + 1), BELOW), at + 1] as const,
      );
      const exact = [keyOf(segments), segments.length] as const;
      const others = new Set<Route['method']>();
      for (const [key, taken] of [exact, ...below.reverse()]) {
        const registered = routes.get(`${method} ${key}`);
        if (registered !== undefined) {
          return { kind: 'found', registered, rest: segments.slice(taken).join('/') };
        }
        for (const each of METHODS) if (routes.has(`${each} ${key}`)) others.add(each);
      }
      return others.size === 0 ? null : { kind: 'other-method', methods: [...others] };
    },
    pages: () =>
      [...routes.keys()]
        .filter((key) => key.startsWith('GET '))
        .map((key) => key.slice('GET '.length).replace(BELOW, '/'))
        .sort(),
  };
}

function keyOf(segments: readonly string[], end = ''): string {
  return segments.map((segment) => `/${segment}`).join('') + end;
}

/** Letters, digits and a few signs that mean nothing to any part of a URL. */
const ROUTE_PATH = /^(\/|(\/[A-Za-z0-9_.~-]+)*(\/\*|\/)?)$/;

/** Tells whether a route may have this path. */
function isRoutePath(path: string): boolean {
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

import type { IncomingHttpHeaders } from 'node:http';

/** A request as a route gets it: let in, whole, and within the limits. */
export type HttpRequest = {
  readonly method: Route['method'];
  /** The path below the route, decoded and without a slash at its beginning; empty for the route itself. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** Without the cookie, and without the token. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The bytes as they came: a signature is over these. */
  readonly body: Buffer;
  /** Aborted when the client no longer waits for the response. */
  readonly signal: AbortSignal;
};

/** The response; status 200 by default. A body that comes in parts may take as long as it likes. */
export type HttpResponse = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
};

/** One address of the loopback server. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the name of its service: `/push` of the service `hook` is `/hook/push`. `/*` takes all below it. */
  readonly path: string;
  /**
   * `token`, the default, asks for the token. `own` lets in every request but those of other pages in
   * a browser: the service checks the request itself, such as by a signature over its body. `landing` is
   * as `own`, and another page may lead the browser here, such as a login elsewhere that comes back.
   */
  readonly access?: 'token' | 'own' | 'landing';
  /** The longest body, in bytes. One megabyte by default. */
  readonly maxBytes?: number;
  /** Answers a request. An error becomes a 500 without its reason, which is in the log. */
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
};

/** A route that is registered. */
export type RegisteredRoute = {
  /** `http://127.0.0.1:45123/hook/push` */
  readonly url: string;
  remove(): void;
};

/** The one HTTP server of the assistant, on this machine alone. It is off until there is a route. */
export interface Loopback {
  /** Registers a route, and listens from the first one on. Rejects where it cannot, or the route is taken. */
  route(service: string, route: Route): Promise<RegisteredRoute>;
  /** `http://127.0.0.1:45123`; null while it is off. */
  address(): string | null;
  close(): Promise<void>;
}

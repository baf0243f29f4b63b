import type { IncomingHttpHeaders } from 'node:http';

/**
 * The rights of a browser that was let in: look, also speak in chats, or all that the owner may. Each includes the
 * one before.
 */
export const SCOPES = ['read', 'talk', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A browser that was let in by a single-use link. */
export type Device = {
  readonly id: string;
  /** As the browser told it. */
  readonly name: string;
  readonly scope: Scope;
  /**
   * The address at which it sees the pages, such as `https://nas.example.ts.net`. Its credential is valid only there.
   */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  readonly seenAt: number;
};

/** A code that lets one browser in, once, until then. */
export type Invitation = { readonly code: string; readonly until: number };

/** The devices that are let in without the token. */
export interface Devices {
  /** Makes a code for a link, to be put behind a `#`, which no server, log or preview of a messenger gets to see. */
  invite(scope: Scope): Invitation;
  /**
   * Takes the code that a page has sent by a route of its own (`access: 'own'`), and returns the header that leaves a
   * credential in that browser. Null for a code that is wrong, used or older than a minute, and for a page elsewhere.
   *
   * @param name the browser as its owner would know it in a list
   */
  enter(
    request: Pick<HttpRequest, 'headers'>,
    code: string,
    name: string,
  ): { readonly device: Device; readonly headers: Readonly<Record<string, string>> } | null;
  list(): readonly Device[];
  /** Takes the credential of a device away, and ends what it is being sent. False where there is none of this id. */
  revoke(id: string): boolean;
  /** Returns the addresses under which browsers reach this server: the allowed ones first, then that of this machine. */
  origins(): readonly string[];
}

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
  /** The browser that was let in by a link; null where the token let it in, or nothing had to. */
  readonly device: Device | null;
  /** Aborted when the client no longer waits for the response, or its device was revoked. */
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
   * `token`, the default, asks for the token, or for a browser that was let in by a link and may do what `scope`
   * says. `own` lets in every request but those of other pages in
   * a browser: the service checks the request itself, such as by a signature over its body. `landing` is
   * as `own`, and another page may lead the browser here, such as a login elsewhere that comes back.
   */
  readonly access?: 'token' | 'own' | 'landing';
  /** The right that a browser needs; `admin` by default. */
  readonly scope?: Scope;
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
  readonly devices: Devices;
  close(): Promise<void>;
}

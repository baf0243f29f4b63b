import { z } from 'zod';
import type { ServiceContext } from '../../host/contracts/service.ts';
import type { Device, Scope } from '../../http/route.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { Push } from './push.ts';

/** What an action works with: the service's own context, and the browser that asks; null for the token. */
export type ApiContext = {
  readonly context: ServiceContext;
  readonly device: Device | null;
  readonly push: Push;
  /** Takes a file that this browser has uploaded; null where it is not all here. */
  readonly takeFile: (id: string) => Uint8Array | null;
};

/** Tells whether a browser may do all that the owner may; null stands for the token. */
export function mayDoAll(device: Device | null): boolean {
  return device === null || device.scope === 'admin';
}

/** Something that a page reads (`GET`) or does (`POST`), for browsers that may do as much as `scope`. */
export type ApiAction = {
  readonly method: 'GET' | 'POST';
  readonly scope: Scope;
  readonly input: z.ZodType;
  run(input: unknown, about: ApiContext): unknown;
};

/** The actions of a panel, below `/dashboard/api/<name>/`. A file in `api/` exports one as `api`. */
export type PageApi = {
  readonly name: string;
  readonly actions: Readonly<Record<string, ApiAction>>;
};

/**
 * Thrown by an action with a sentence for the person at the page.
 *
 * @param words the name of the same sentence in the languages of the page: `problem-<words>` in `main.<language>.json`;
 *   null for what a command has said, which the page quotes
 */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly words: string | null;

  constructor(message: string, words: string | null = null) {
    super(message);
    this.words = words;
  }
}

type Run<S extends z.ZodType> = (input: z.output<S>, about: ApiContext) => unknown;

/** Defines an action that only reads; its input comes from the query of the address. */
export function reads<S extends z.ZodType>(
  input: S,
  run: Run<S>,
  scope: Scope = 'read',
): ApiAction {
  return { method: 'GET', scope, input, run: (given, about) => run(input.parse(given), about) };
}

/** Defines an action that does something; its input is JSON. */
export function does<S extends z.ZodType>(scope: Scope, input: S, run: Run<S>): ApiAction {
  return { method: 'POST', scope, input, run: (given, about) => run(input.parse(given), about) };
}

export function defineApi(api: PageApi): PageApi {
  return api;
}

const Discovered = z.custom<PageApi>(
  (value) =>
    z.looseObject({ name: z.string(), actions: z.looseObject({}) }).safeParse(value).success,
  'must be made by defineApi({ name, actions })',
);

/** Returns the actions of all panels. */
export function discoverApis(): Promise<readonly PageApi[]> {
  return discoverExports(`${import.meta.dirname}/api`, 'api', Discovered);
}

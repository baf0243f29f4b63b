import { signal, type VNode } from './vendor.ts';

// What panels share: talking to the assistant, what happens there now, words, and the way from panel to panel.

/** What a browser may do, least first. */
export type Scope = 'read' | 'talk' | 'admin';

/** A panel: the file `panels/<name>.ts` exports one as `panel`. Its words are beside it, in `<name>.en.json`. */
export type Panel = {
  readonly name: string;
  /** Panels stand in this order, hundreds apart. */
  readonly order: number;
  /** What a browser must be allowed to do to see it. */
  readonly scope: Scope;
  /** The path of an SVG picture of 24 by 24, drawn as a line. */
  readonly icon: string;
  /**
   * Begins to read what a place of this panel shows first. The place before stays until it is here, so that the new one is
   * drawn once; null where nothing is to be waited for.
   *
   * @param rest the words of the address after the panel's name
   */
  prepare?(rest: readonly string[]): Promise<unknown> | null;
  /** @param rest the words of the address after the panel's name */
  view(props: { readonly rest: readonly string[] }): VNode;
};

export function definePanel(panel: Panel): Panel {
  return panel;
}

/** Thrown for an answer that is a sentence for the person at the page. */
export class Problem extends Error {
  override readonly name = 'Problem';
}

const BASE = '/dashboard';

/** Thrown where no answer came: nobody knows whether the assistant has heard of it. */
class Unreachable extends Problem {}

/**
 * Asks the assistant for something below `/dashboard/`.
 *
 * @throws Problem in the words of the page: what it has none for is quoted
 */
export async function ask(path: string, init?: RequestInit): Promise<Response> {
  const t = wordsOf('main');
  const response = await fetch(`${BASE}/${path}`, init).catch(() => null);
  if (response === null) throw new Unreachable(t('problem-unreachable'));
  if (response.ok) return response;
  if (response.status === 401) session.value = 'out';
  const text = (await response.text()).trim() || `${response.status} ${response.statusText}`;
  const name = response.headers.get('x-claw-problem');
  throw new Problem(name === null ? t('problem-said', { text }) : t(`problem-${name}`));
}

/** A connection that breaks, as when a device goes from one network to another, has so long to be there again. */
const AGAIN_MS = 500;

/** Reads something: `get('chat/history', { jid })`. Where nothing comes it asks once more before it says so. */
export async function get<T>(
  action: string,
  query: Readonly<Record<string, string | number>> = {},
): Promise<T> {
  const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const path = `api/${action}${search}`;
  const answer = await ask(path).catch(async (problem: unknown) => {
    if (!(problem instanceof Unreachable)) throw problem;
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    return await ask(path);
  });
  return (await answer.json()) as T;
}

/** Does something: `post('chat/say', { jid, text })`. */
export async function post<T>(action: string, body: unknown): Promise<T> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  return (await (await ask(`api/${action}`, init)).json()) as T;
}

/** `out` until this browser was let in, and after it was taken out. */
export const session = signal<'asking' | 'in' | 'out'>('asking');
export const scope = signal<Scope>('read');

export function may(wanted: Scope): boolean {
  const order = ['read', 'talk', 'admin'];
  return order.indexOf(scope.value) >= order.indexOf(wanted);
}

/** The place that is shown. */
export const place = signal<readonly string[]>(placeOf());

/** Whether the address names a place that is not shown yet. */
export function isOnTheWay(): boolean {
  return linkTo(...placeOf()) !== linkTo(...place.value);
}

/** Returns the words of the address after `#/`, decoded. */
export function placeOf(): readonly string[] {
  return location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a place, for a link. */
export function linkTo(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * Returns a line of code as it is to be read by somebody who decides by it: what would show it in another order than it has
 * is written as its escape.
 */
export function codeLine(line: string): string {
  return line.replace(
    /[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a chat as a command names it: a name may have quotes, and the address is one chat's. */
export function quoted({ jid, name }: { readonly jid: string; readonly name: string }): string {
  return `"${/["“”„]/.test(name) ? jid : name}"`;
}

let words: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

/** Loads the words of this browser's language, once; those that it lacks are in English. */
export async function loadWords(): Promise<void> {
  const name = `strings.${navigator.language.slice(0, 2)}.json`;
  words = await (await fetch(new URL(name, import.meta.url))).json();
  document.documentElement.lang = words['main']?.['language'] ?? 'en';
}

/** Returns the words of a panel; `{name}` in them is replaced. */
export function wordsOf(panel: string) {
  return (key: string, values: Readonly<Record<string, string | number>> = {}): string =>
    (words[panel]?.[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) =>
      String(values[name] ?? whole),
    );
}

// Each is made once: that takes longer than all that it writes in a page.
const TIME = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(navigator.language, {
  dateStyle: 'medium',
  timeStyle: 'short',
});
const NUMBER = new Intl.NumberFormat(navigator.language);

/** Writes a moment: the time alone for today. */
export function moment(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return (isToday ? TIME : DAY).format(at);
}

export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

export function money(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(microUsd < 10_000 && microUsd > 0 ? 4 : 2)}`;
}

export function count(value: number): string {
  return NUMBER.format(value);
}

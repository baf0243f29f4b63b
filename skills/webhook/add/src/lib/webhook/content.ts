import { readJson as readBoundedJson } from '../bounded-json.ts';
import { MOST_LEVELS } from '../json-depth.ts';

/** The body of a request, read as its type says; or the reason why it cannot be. */
export type Content =
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly status: 400 | 415; readonly reason: string };

/** Five megabytes of an event hold some ten thousand values. */
const BOUNDS = { maxBytes: 5_242_880, maxValues: 100_000, maxDepth: MOST_LEVELS };

const JSON_TYPE = /^application\/([\w.+-]+\+)?json$/;

/** Reads a body: JSON, a form (GitHub's has JSON in `payload`), or text. */
export async function readContent(
  contentType: string | undefined,
  body: Uint8Array,
): Promise<Content> {
  const type = (contentType ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return refused(400, 'The body is no UTF-8.');
  }
  if (JSON_TYPE.test(type)) return readJson(text);
  if (type === 'text/plain') return { kind: 'read', value: text };
  if (type !== 'application/x-www-form-urlencoded') {
    return refused(415, 'Send application/json, application/x-www-form-urlencoded or text/plain.');
  }
  const form = new URLSearchParams(text);
  const payload = form.get('payload');
  return payload === null ? { kind: 'read', value: Object.fromEntries(form) } : readJson(payload);
}

async function readJson(text: string): Promise<Content> {
  const read = await readBoundedJson(Buffer.from(text), BOUNDS);
  if (read.kind === 'value') return { kind: 'read', value: read.value };
  return refused(400, `The body cannot be read as JSON. ${read.problem}`);
}

function refused(status: 400 | 415, reason: string): Content {
  return { kind: 'refused', status, reason };
}

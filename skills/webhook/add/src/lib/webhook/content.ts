import { isTooDeep, MOST_LEVELS } from '../json-depth.ts';

/** The body of a request, read as its type says; or the reason why it cannot be. */
export type Content =
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly status: 400 | 415; readonly reason: string };

const JSON_TYPE = /^application\/([\w.+-]+\+)?json$/;

/** Reads a body: JSON, a form (GitHub's has JSON in `payload`), or text. */
export function readContent(contentType: string | undefined, body: Uint8Array): Content {
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

function readJson(text: string): Content {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(400, 'The body is no JSON.');
  }
  return isTooDeep(value)
    ? refused(400, `The body is JSON of more than ${MOST_LEVELS} levels.`)
    : { kind: 'read', value };
}

function refused(status: 400 | 415, reason: string): Content {
  return { kind: 'refused', status, reason };
}

import { domainOf } from '../addresses.ts';

/** A header as it stands in a mail: the name in small letters. */
export type Header = { readonly key: string; readonly value: string };

/** Result of a check of the sender: confirmed, or why not, in a few words for the log. */
export type SenderCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

type Result = { readonly method: string; readonly result: string; readonly text: string };

/**
 * Asks the receiving server's `Authentication-Results` whether the sender is who the mail says. Only the topmost header
 * by the server's own name counts: those below it came with the mail, and anybody can write them.
 *
 * DMARC decides where it says pass or fail. Otherwise DKIM of the sender's domain, or SPF of exactly it.
 */
export function checkSender(
  headers: readonly Header[],
  authservId: string,
  sender: string,
): SenderCheck {
  const own = headers.find(
    ({ key, value }) => key === 'authentication-results' && signerOf(value) === authservId,
  );
  if (own === undefined) return { ok: false, reason: `no results by ${authservId}` };
  // A server that copies the sender's words into a comment unescaped lets them end it, and go on as they like.
  if (hasQuotedComment(own.value)) return { ok: false, reason: 'a comment with quotation marks' };
  const results = resultsIn(own.value);
  const domain = domainOf(sender).toLowerCase();
  const dmarc = results.filter(({ method }) => method === 'dmarc');
  if (dmarc.some(({ result }) => result === 'fail')) return { ok: false, reason: 'dmarc=fail' };
  const isConfirmed = results.some((one) => one.result === 'pass' && confirms(one, domain));
  if (isConfirmed) return { ok: true };
  const words = results.map(({ method, result }) => `${method}=${result}`).join(' ');
  return { ok: false, reason: words === '' ? 'no result' : `${words}, none for ${domain}` };
}

/** Returns the name of the server that wrote a header of results; null where it has none. */
export function signerOf(value: string): string | null {
  const [first = ''] = withoutComments(value).split(';', 1);
  const [name = ''] = first.trim().split(/\s+/, 1);
  return name === '' || name.includes('=') ? null : name.toLowerCase();
}

function confirms({ method, text }: Result, domain: string): boolean {
  if (method === 'dmarc') return domainIn(text, 'header\\.from') === domain;
  if (method === 'dkim') {
    const signer = domainIn(text, 'header\\.d') ?? domainIn(text, 'header\\.i');
    return signer !== null && isWithin(domain, signer);
  }
  return method === 'spf' && domainIn(text, 'smtp\\.mailfrom') === domain;
}

/** Returns the domain that a property names; null for none, or for several: one of them may be the sender's own words. */
function domainIn(text: string, name: string): string | null {
  const found = text.matchAll(new RegExp(`\\s${name}\\s*=\\s*"?([^\\s;"]+)`, 'gi'));
  const domains = new Set([...found].map(([, value = '']) => domainOf(value.toLowerCase())));
  const [only = null] = domains;
  return domains.size === 1 ? only : null;
}

/** A domain may sign for those below it; a name without a dot is nobody's. */
function isWithin(domain: string, signer: string): boolean {
  return signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
}

function resultsIn(value: string): readonly Result[] {
  return withoutComments(value)
    .split(';')
    .slice(1)
    .flatMap((text) => {
      const [, method, result] = /^\s*([\w-]+)(?:\/\d+)?\s*=\s*([\w-]+)/.exec(text) ?? [];
      if (method === undefined || result === undefined) return [];
      return [{ method: method.toLowerCase(), result: result.toLowerCase(), text }];
    });
}

/** Comments are in parentheses, which may nest; whatever is quoted stays one word. */
function withoutComments(value: string): string {
  return partsOf(value).text;
}

function hasQuotedComment(value: string): boolean {
  return partsOf(value).comments.includes('"');
}

function partsOf(value: string): { readonly text: string; readonly comments: string } {
  let depth = 0;
  let isQuoted = false;
  let text = '';
  let comments = '';
  for (let at = 0; at < value.length; at += 1) {
    const sign = value[at] ?? '';
    if (sign === '\\') at += 1;
    else if (depth === 0 && sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && sign === '(') depth += 1;
    else if (!isQuoted && sign === ')' && depth > 0) depth -= 1;
    else if (depth > 0) comments += sign;
    else text += isQuoted && /[\s;=]/.test(sign) ? '_' : sign;
  }
  return { text, comments };
}

import { beginningOf } from '../../lib/graphemes.ts';

/** Names whose values are secret. */
const SECRET_NAME =
  /(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|credential|authorization|cookie|session[-_]?id|webhook)s?$/i;

// Every part has a longest length: else a text that is made for it takes minutes.

/** Keys as their servers make them. */
const KEYS =
  /\b(?:sk|pk|rk)-[\w-]{16,300}|\bxox[abeprs]-[\w-]{10,300}|\bxapp-[\w-]{10,300}|\bgh[opsur]_\w{20,300}|\bgithub_pat_\w{20,300}|\bglpat-[\w-]{16,300}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,100}|\btvly-[\w-]{12,100}|\bBSA[\w-]{20,100}|\bhf_\w{20,100}|\b\d{8,10}:AA[\w-]{30,100}|\beyJ[\w-]{10,1000}\.[\w-]{10,4000}\.[\w-]{0,1000}/g;
const KEY_BLOCK =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const IN_ADDRESS = /(\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s:/@]{0,200}:)[^\s/@]{1,300}(?=@)/gi;
const IN_HEADER = /(\b(?:bearer|basic|token)\s+)[\w.~+/=-]{8,}/gi;
const ASSIGNED =
  /(\b[\w-]{0,40}?(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)\s*(?:["']\s*)?[=:]\s*)(?:"[^"\n]*"|'[^'\n]*'|[^\s"',;&|]+)/gi;
const VALUE = String.raw`(?:"[^"\n]*"|'[^'\n]*'|[^\s"']+)`;
const OPTION = new RegExp(
  String.raw`(\s--(?:[\w-]{0,40}-)?(?:password|passwd|passphrase|token|secret|api-key|pass|pwd)[ =])${VALUE}`,
  'gi',
);
/** Short options mean a password with some programs alone: `mkdir -p` makes a folder, and the log has to say which. */
const SHORT_OPTION = new RegExp(
  String.raw`(\b(?:(?:mysql|mariadb|mongo)[\w-]{0,20}|sshpass|7z\w?|(?:docker|podman|helm|oras|skopeo)\s[^\n;|&]{0,40}?login)\s(?:[^\n;|&]{0,200}?\s)?-p\s?|\bredis-cli\s(?:[^\n;|&]{0,200}?\s)?-a\s|\bldap\w{1,20}\s(?:[^\n;|&]{0,200}?\s)?-w\s|\b(?:un)?zip\s(?:[^\n;|&]{0,200}?\s)?-P\s)${VALUE}`,
  'g',
);
const LOGIN =
  /(\b(?:curl|wget|https?|xh)\s(?:[^\n;|]{0,400}?\s)?(?:-\w{0,6}u|--(?:proxy-)?user)[ =]?["']?[^\s:"']{1,200}:)[^\s"']{1,300}/g;
const SENT_HEADER =
  /((?:-H|--header)[ =]?["']?(?:(?:proxy-)?authorization|cookie|[\w-]{0,40}(?:key|token|auth|secret))\s*:\s*)[^\n"']{1,2000}/gi;

const MASK = '***';
const LONGEST = 1_000;
const MOST_ENTRIES = 50;
const DEEPEST = 6;

/** Returns a text with the secrets masked that can be told by their name or their shape. */
export function maskText(text: string): string {
  return text
    .replace(KEY_BLOCK, MASK)
    .replace(KEYS, MASK)
    .replace(IN_ADDRESS, `$1${MASK}`)
    .replace(IN_HEADER, `$1${MASK}`)
    .replace(SENT_HEADER, `$1${MASK}`)
    .replace(ASSIGNED, `$1${MASK}`)
    .replace(OPTION, `$1${MASK}`)
    .replace(SHORT_OPTION, `$1${MASK}`)
    .replace(LOGIN, `$1${MASK}`);
}

/** A shell takes a line that ends so and the next one as one line: a key may go over both. */
function withoutContinuations(text: string): string {
  return text.replace(/\\\r?\n/g, '');
}

/** Returns data with its secrets masked and its long texts cut, small enough for a line of a log. */
export function maskData(data: unknown, depth = 0): unknown {
  if (typeof data === 'string')
    return shortened(maskText(withoutContinuations(data.slice(0, 4 * LONGEST))), data.length);
  if (typeof data !== 'object' || data === null) return data;
  if (depth >= DEEPEST) return '…';
  if (Array.isArray(data)) {
    const shown = data.slice(0, MOST_ENTRIES).map((one) => maskData(one, depth + 1));
    return data.length > MOST_ENTRIES ? [...shown, `… ${data.length} in all`] : shown;
  }
  const entries = Object.entries(data).slice(0, MOST_ENTRIES);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.slice(0, 100),
      SECRET_NAME.test(name) && value !== null && value !== '' ? MASK : maskData(value, depth + 1),
    ]),
  );
}

function shortened(text: string, whole: number): string {
  return text.length <= LONGEST ? text : `${beginningOf(text, LONGEST)}… (${whole} characters)`;
}

import { parseEnv } from 'node:util';
import type { Tree } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { readTreeFile } from '../installed/disk.ts';

/** Values of the owner's `.env`, by the names of their settings; none of them belongs in a package. */
export type OwnValues = ReadonlyMap<string, string>;

/** Reads the owner's `.env` as the assistant does: a value in quotes may have several lines. */
export function readOwnValues(root: string): OwnValues {
  const file = readTreeFile(root, '.env');
  const text = file === null ? '' : file.bytes.toString('utf8').replace(/^\uFEFF/, '');
  const entries = Object.entries(parseEnv(text));
  return new Map(entries.flatMap(([name, value = '']) => (value === '' ? [] : [[name, value]])));
}

/** Tells whether the example of a setting is its value in the owner's `.env`. */
export function isOwnValue(own: OwnValues, name: string, example: string): boolean {
  if (example === '') return false;
  return own.get(name) === example || secretsOf(own).some(({ text }) => example.includes(text));
}

/**
 * Refuses a package in which any file contains a secret of the owner's `.env`.
 *
 * @throws ClawError SECRET_FOUND with the path inside the package
 */
export function refuseSecrets(files: Tree, own: OwnValues): void {
  const secrets = secretsOf(own);
  for (const [path, { bytes }] of files) {
    const found = secrets.find(({ text }) => bytes.includes(text));
    if (found === undefined) continue;
    const { setting } = found;
    // The base of a file may be a private commit of the owner's.
    const advice = path.startsWith('base/')
      ? `It is in ${path.slice('base/'.length)} of the core that your edits begin from, so all who ` +
        `have that core know it: give ${setting} another value in .env, then pack again.`
      : `Read it from the environment, as process.env.${setting}, then pack again.`;
    throw new ClawError(
      'SECRET_FOUND',
      `${path} would hold the value of ${setting} from your .env, or the secret in it, and a package is ` +
        `there for others. ${advice}`,
      { path, data: { setting } },
    );
  }
}

/** Warns of files of the core that contain a secret of the owner's `.env`, by path. */
export function noteSecrets(core: Tree, own: OwnValues): readonly string[] {
  const secrets = secretsOf(own);
  return [...core].flatMap(([path, { bytes }]) => {
    const found = secrets.find(({ text }) => bytes.includes(text));
    if (found === undefined) return [];
    const { setting } = found;
    return [
      `${path} holds the value of ${setting} from your .env, and so does its copy in .claw/base, which is ` +
        `committed with the tree. Read it from the environment, as process.env.${setting}, and give it ` +
        'another value before others see either.',
    ];
  });
}

function secretsOf(own: OwnValues): readonly { readonly setting: string; readonly text: string }[] {
  return [...own].flatMap(([setting, value]) =>
    secretTexts(setting, value).map((text) => ({ setting, text })),
  );
}

/** Shorter texts occur in many files by chance. */
const LEAST = 8;
/** The least length of a part of an address that is a secret by its looks. */
const LEAST_IN_PATH = 16;

/**
 * An `AUTHOR`, a `KEYBOARD` and a shell's `PWD` are no secrets, and `PAT` is a word of its own. The
 * assistant keeps the same names out of its log (`src/supervisor/environment.ts`).
 */
const SECRET_NAME =
  /KEY(?!BOARD|WORD)|TOKEN|SECRET|PASS|(?<!^(?:OLD)?)PWD|(?<![A-Z])PAT(?![A-Z])|CREDENTIAL|PRIVATE|COOKIE|HEADERS|AUTH(?!OR(?!I)|SERV|ENTICATION$)/i;
/** Names of addresses that are secrets in themselves: knowing them is enough to use them. */
const SECRET_ADDRESS = /WEBHOOK|DSN/i;
/** Addresses of the assistant itself, which knows by another secret who calls it. */
const OWN_ADDRESSES: readonly string[] = ['TELEGRAM_WEBHOOK_URL'];
/** Numbers of tokens, also by chat: `BUDGET_TOKENS=500000, family:20000`. */
const COUNTS = /^(?:(?:[\w-]+:)?(?:\d+|none)[\s,]*)+$/;
/**
 * Endings of settings beside a secret: `TOKEN_URL`, `PRIVATE_KEY_PATH`. Their values are judged by their
 * looks.
 */
const BESIDE_SECRET =
  /_(?:URL|URI|HOST|ENDPOINT|DOMAIN|PATH|FILE|DIR|SOCK|NAME|ID|TYPE|MODE|METHOD)$/i;

/**
 * Returns the texts by which a setting's secret is found in a file: the value, the lines of a key, the credentials in
 * an address, each also as quoted in code and JSON. None if the setting is no secret, by its name or the look of its
 * value.
 */
export function secretTexts(name: string, value: string): readonly string[] {
  const isCount =
    (/TOKENS/i.test(name) && /^\d+$/.test(value)) ||
    (/^(?:BUDGET|MODEL)_\w*TOKENS$/.test(name) && COUNTS.test(value));
  const isNamed =
    (SECRET_ADDRESS.test(name) && !OWN_ADDRESSES.includes(name)) ||
    (SECRET_NAME.test(name) && !BESIDE_SECRET.test(name) && !isCount);
  const isKey = value.includes('-----BEGIN ');
  const whole = isNamed || isKey || isUnguessable(value) ? [value] : [];
  const texts = [...whole, ...linesIn(value, isKey), ...credentialsIn(value)];
  return [...new Set(texts.filter((text) => text.length >= LEAST).flatMap(quotedForms))];
}

/**
 * Returns the lines of a key, and secret-looking parts amid other words; a line break may be written as `\n`.
 */
function linesIn(value: string, isKey: boolean): readonly string[] {
  const lines = value.split(/\\r|\\n|[\r\n]/).map((line) => line.trim());
  if (isKey) return lines.filter((line) => !line.startsWith('-----'));
  return lines.flatMap((line) => line.split(/\s+/)).filter(isUnguessable);
}

/** Returns the login and password of an address, and secrets among its parameters and path. */
function credentialsIn(value: string): readonly string[] {
  // An address of several hosts, as of a database, is no URL to the parser.
  const [, userInfo = '', host = ''] = /:\/\/([^/?#\s]*)@([^/?#\s]*)/.exec(value) ?? [];
  const [user = '', ...rest] = userInfo.split(':');
  const password = rest.join(':');
  // postgres:postgres@localhost is the same everywhere.
  const known = ['', user, ...value.replace(userInfo, '').split(/[^\w-]+/)];
  const login = known.includes(password)
    ? []
    : [password, decoded(password), `${userInfo}@${host}`];
  const token = isUnguessable(user) ? [user] : [];
  if (!isAddress(value)) return [...login, ...token];
  const { searchParams, pathname } = new URL(value);
  const parameters = [...searchParams]
    .filter(([name, text]) => SECRET_NAME.test(name) || isUnguessable(text))
    .map(([, text]) => text);
  const parts = pathname.split('/').filter((part) => part.length >= LEAST_IN_PATH);
  return [...login, ...token, ...parameters, ...parts.filter(isRandom)];
}

/**
 * Tells whether a value looks like a secret: no word, number, path, name of a host or a model, and no
 * address, whose credentials count alone.
 */
function isUnguessable(value: string): boolean {
  if (value.length < LEAST || /\s/.test(value) || isAddress(value)) return false;
  const isPath = /^(?:~|\.{1,2})?\/[\w.-]+(?:\/[\w.@-]+)*\/?$/.test(value);
  const isHost = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+(?::\d+)?$/.test(value);
  const isName = /^[a-z0-9._@-]+(?:\/[a-z0-9._@:-]+)+$/.test(value);
  if (isPath || isHost || isName) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[!#$%^&*?|]/];
  return kinds.every((kind) => kind.test(value)) || isRandom(value);
}

/** Tells whether letters and digits, or capitals and small letters, are mixed as in no word. */
function isRandom(value: string): boolean {
  return value.split(/[^A-Za-z0-9]+/).some((part) => {
    if (part.length < LEAST) return false;
    if (/^[A-Za-z]+$/.test(part)) {
      const words = part.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
      return part.length >= LEAST_IN_PATH && part.length / words.length < 3;
    }
    // A word with a number after it, a version, a measure.
    return !/^(?:[A-Za-z]+\d{1,4}|v?\d+|\d+[A-Za-z]{1,3}|\d+x\d+)$/.test(part);
  });
}

function isAddress(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) && URL.canParse(value);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign of its own.
  }
}

/**
 * Returns the forms of a text in files: code and JSON put a backslash before a quotation mark, addresses
 * encode other signs.
 */
function quotedForms(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [text, quoted, text.replaceAll("'", "\\'"), encodeURIComponent(text.toWellFormed())];
}

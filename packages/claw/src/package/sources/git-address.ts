import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClawError } from '../../errors.ts';
import { checkPath, showPath } from '../checks/paths.ts';

/** A repository on this disk, or one that git reaches by `url`; `shown` is the same without secrets. */
export type GitRepository =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'remote'; readonly url: string; readonly shown: string };

/** A folder in a git repository. */
export type GitAddress = {
  readonly repository: GitRepository;
  /** A branch, a tag or a whole commit; null for the repository's default branch. */
  readonly ref: string | null;
  /** Empty for the repository's top. */
  readonly folder: string;
  /** `#<folder>`, `#<ref>:<folder>` or nothing, as it is written. */
  readonly fragment: string;
};

/** Matches text that git would refuse as a ref, or that a command or a refspec would misread. */
const NO_REF = /^[-+^/]|[\p{Cc}\s~^:?*[\\]|\.\.|@\{|\/\/|\.lock$|[/.]$/u;

/**
 * Reads `<url>`, `<url>#<folder>` or `<url>#<ref>:<folder>`; null where no git repository is meant.
 * Neither a ref nor a folder can hold a colon, so the two never mix. The url is `https://…`,
 * `ssh://…`, `git@host:…`, `file:…` or a path that ends in `.git`.
 *
 * @throws ClawError USAGE for another protocol and for what git would take as an option; PATH_UNSAFE
 * for the folder
 */
export function parseGitAddress(text: string, cwd: string): GitAddress | null {
  const hash = text.indexOf('#');
  const place = hash === -1 ? text : text.slice(0, hash);
  const repository = parseRepository(place, cwd);
  if (repository === null) return null;
  const fragment = hash === -1 ? '' : text.slice(hash + 1);
  const colon = fragment.indexOf(':');
  const ref = colon === -1 ? null : fragment.slice(0, colon);
  const folder = fragment.slice(colon + 1).replace(/\/+$/, '');
  if (ref !== null && (ref === '' || NO_REF.test(ref))) {
    throw refusal(`"${ref}" is not a branch, tag or commit. Write <url>#<ref>:<folder>.`);
  }
  if (folder !== '') checkPath(folder);
  const written = `${ref === null ? '' : `${ref}:`}${folder}`;
  return { repository, ref, folder, fragment: written === '' ? '' : `#${written}` };
}

function parseRepository(place: string, cwd: string): GitRepository | null {
  if (
    /\p{Cc}/u.test(place) ||
    /^\w[\w+.-]*::/.test(place) ||
    (place.startsWith('-') && place.includes('.git'))
  ) {
    throw refusal(`${showPath(place)} is not an address that a skill is fetched from.`);
  }
  if (/^file:/i.test(place)) return { kind: 'local', path: localPath(place, cwd) };
  if (/^\w[\w+.-]*:\/\//.test(place)) return parseUrl(place);
  // As ssh takes it: no part may begin like an option.
  if (/^\w[\w.-]*@\w[\w.-]*:[^-:]/.test(place)) return { kind: 'remote', url: place, shown: place };
  if (place.endsWith('.git')) return { kind: 'local', path: resolve(cwd, place) };
  return null;
}

function localPath(place: string, cwd: string): string {
  if (!/^file:\/\//i.test(place)) return resolve(cwd, place.slice('file:'.length));
  try {
    return fileURLToPath(place);
  } catch (cause) {
    throw refusal(`${place} is not a folder on this machine.`, cause);
  }
}

function parseUrl(place: string): GitRepository {
  const url = URL.canParse(place) ? new URL(place) : null;
  const isSafe = url !== null && url.hostname !== '' && !/^(-|%2d)/i.test(url.hostname);
  if (!isSafe || !/^(https|ssh):$/.test(url.protocol)) {
    throw refusal(
      `${withoutSecrets(place)} is not fetched: git is given https, ssh and file only.`,
    );
  }
  return { kind: 'remote', url: place, shown: withoutSecrets(place) };
}

/**
 * Strips secrets from an address. A name before ssh's host is the login; before that of https it may be a
 * token.
 */
function withoutSecrets(place: string): string {
  if (!URL.canParse(place)) return place.replace(/\/\/[^/]*@/, '//');
  const url = new URL(place);
  if (url.protocol !== 'ssh:') url.username = '';
  url.password = '';
  url.search = '';
  return url.href;
}

function refusal(message: string, cause?: unknown): ClawError {
  return new ClawError('USAGE', message, { cause });
}

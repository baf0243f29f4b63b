import { ClawError } from '../../errors.ts';
import { disputedKind } from '../../structured/structured-kind.ts';
import { aptFault, rangeFault } from '../dependencies.ts';
import { settingFault } from './docker-services.ts';
import { parsePlainYaml } from './plain-yaml.ts';

const RANGE_KEY = /^((\w+D|d)ependencies|npm)\./;
const SERVICE_KEY = /^services\..+\.([^.]+)$/;
const LISTS = ['ports', 'volumes', 'expose'];
const LIMITS = { sizeBytes: 64 * 1024, depth: 16 };

/**
 * Returns the value that a text means for the key of a structured conflict: a range for a package, a list for
 * ports, whatever JSON or YAML it is elsewhere. The word `null` means that the key goes, except in env files,
 * where every text is a value.
 *
 * @param path of the conflict: `package.json#dependencies.foo`
 * @param present what one of the sides wants there: a bare port number moves its one port
 * @throws ClawError as `checkValue`, and YAML_INVALID, LIMIT_EXCEEDED
 */
export function parseValue(path: string, text: string, present: unknown = null): unknown {
  const value = read(path, text.trim(), present);
  checkValue(path, value);
  return value;
}

/**
 * Checks a value for the key of a structured file by the rules that a skill's declaration is held to.
 * Keys that no skill can declare are the owner's business.
 *
 * @throws ClawError DEPENDENCY_REFUSED, ENV_INVALID, COMPOSE_REFUSED
 */
export function checkValue(path: string, value: unknown): void {
  const [file, key] = splitPath(path);
  if (value === null) return;
  const kind = disputedKind(file);
  switch (kind) {
    case 'env':
      if (typeof value === 'string' && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)) return;
      throw refusal('ENV_INVALID', path, 'a value is one line of plain text');
    case 'npm':
    case 'container':
      checkPackages(path, { key, isImage: kind === 'container' }, value);
      return;
    case 'compose': {
      const fault = settingFault(SERVICE_KEY.exec(key)?.[1] ?? '', value);
      if (fault !== null) throw refusal('COMPOSE_REFUSED', path, fault);
    }
  }
}

function checkPackages(
  path: string,
  { key, isImage }: { readonly key: string; readonly isImage: boolean },
  value: unknown,
): void {
  if (RANGE_KEY.test(key)) {
    const fault = typeof value === 'string' ? rangeFault(value) : 'a range is text';
    if (fault !== null) throw refusal('DEPENDENCY_REFUSED', path, fault);
  }
  if (!isImage || key !== 'apt') return;
  const names = Array.isArray(value) ? value : [value];
  const fault = names.map(aptFault).find((one) => one !== null);
  if (fault != null) throw refusal('DEPENDENCY_REFUSED', path, fault);
}

function read(path: string, text: string, present: unknown): unknown {
  const [file, key] = splitPath(path);
  const kind = disputedKind(file);
  if (kind === 'env') return text;
  if (text === 'null') return null;
  if (kind !== 'compose' && RANGE_KEY.test(key)) return text;
  if (kind === 'npm') return jsonOrText(text);
  const value = parsePlainYaml(text, path, LIMITS);
  const name = SERVICE_KEY.exec(key)?.[1] ?? '';
  const isList = Array.isArray(value) || value === null;
  if (kind === 'container' && key === 'apt') return isList ? value : String(value).split(/[\s,]+/);
  if (kind !== 'compose' || !LISTS.includes(name) || isList || typeof value === 'object') {
    return value;
  }
  return name === 'ports' && typeof value === 'number'
    ? movedPort(path, value, present)
    : text.split(/[\s,]+/);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A script, a name or a version needs no quotes.
    return text;
  }
}

/** Returns the one port of a service, at another port of the host. */
function movedPort(path: string, published: number, present: unknown): unknown {
  const [port, ...others] = Array.isArray(present) ? present : [];
  if (others.length === 0 && typeof port === 'string') {
    const moved = port.replace(/^(.*:)?[\d-]*(:\d+(?:\/\w+)?)$/, `$1${published}$2`);
    if (moved !== port || port.includes(`:${published}:`)) return [moved];
  }
  if (others.length === 0 && typeof port === 'object' && port !== null) {
    return [{ ...port, published: String(published) }];
  }
  throw refusal('COMPOSE_REFUSED', path, 'say the whole mapping, as in 127.0.0.1:8080:80');
}

function splitPath(path: string): readonly [file: string, key: string] {
  const at = path.indexOf('#');
  return at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

function refusal(
  code: 'DEPENDENCY_REFUSED' | 'ENV_INVALID' | 'COMPOSE_REFUSED',
  path: string,
  reason: string,
): ClawError {
  return new ClawError(code, `${path}: ${reason}.`, { path });
}

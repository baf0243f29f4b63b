import { minVersion, Range } from 'semver';
import { ClawError } from '../errors.ts';
import type { Structured } from './manifest/manifest.ts';

// npm's own rules (`validate-npm-package-name`, where old packages count): outside a scope a name begins
// with no dot, no underscore, and no dash, which a command would take for an option.
const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/[a-zA-Z0-9~_-]|[a-zA-Z0-9~])[a-zA-Z0-9._~-]*$/;
const NPM_RESERVED = new Set(['node_modules', 'favicon.ico']);
const MAX_NPM_NAME = 214;
const MAX_RANGE = 256;
const APT_NAME = /^[a-z0-9][a-z0-9+.-]{1,99}$/;

/**
 * Checks that packages come from a registry, in versions that can be told: npm's by semver range, the
 * image's Debian packages by name.
 *
 * @throws ClawError DEPENDENCY_REFUSED with the place in the manifest
 */
export function checkDependencies({ npmDependencies, container }: Structured): void {
  checkNpm(npmDependencies, 'structured.npm_dependencies');
  checkNpm(container.npmDependencies, 'structured.container.npm_dependencies');
  for (const [at, name] of container.aptPackages.entries()) {
    const fault = aptFault(name);
    if (fault !== null) throw refusal(`structured.container.apt_packages.${at}`, fault);
  }
}

function checkNpm(dependencies: Readonly<Record<string, string>>, place: string): void {
  for (const [name, range] of Object.entries(dependencies)) {
    const key = `${place}.${name}`;
    if (
      !NPM_NAME.test(name) ||
      name.length > MAX_NPM_NAME ||
      NPM_RESERVED.has(name.toLowerCase())
    ) {
      throw refusal(key, `${JSON.stringify(name)} is not a valid name of an npm package`);
    }
    const fault = rangeFault(range);
    if (fault !== null) throw refusal(key, fault);
  }
}

/** Returns the reason that something is not a valid name of a Debian package, or null. */
export function aptFault(name: unknown): string | null {
  const isName = typeof name === 'string' && APT_NAME.test(name);
  return isName ? null : `${JSON.stringify(name)} is not a valid name of a Debian package`;
}

/** Returns the reason that a range does not name versions in a registry, or null. */
export function rangeFault(range: string): string | null {
  const fault = versionsFault(range);
  return fault && `${JSON.stringify(range)} ${fault}`;
}

function versionsFault(range: string): string | null {
  const advice = 'write a semver range such as ^1.2.3, from the registry';
  if (range.length > MAX_RANGE) return `is too long; ${advice}`;
  try {
    const parsed = new Range(range);
    // Anything at all, in any of its spellings: `*`, an empty range, `x`, `>=0.0.0`, `1 || *`.
    const isAnything = parsed.set.some((part) => part.every(({ value }) => value === ''));
    if (isAnything) return `allows any version; ${advice}`;
    return minVersion(parsed) === null ? `allows no version; ${advice}` : null;
  } catch {
    // Not a range at all: a tag, a URL, a path or an alias. That is what the caller is told.
    return `is not a semver range; ${advice}`;
  }
}

function refusal(key: string, reason: string): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError('DEPENDENCY_REFUSED', `${path}: ${reason}.`, { path });
}

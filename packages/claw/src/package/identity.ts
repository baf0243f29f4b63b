import { parse, validRange } from 'semver';
import { ClawError } from '../errors.ts';
import type { Manifest } from './manifest/manifest.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const NAME_RULE = 'it takes a-z, 0-9 and dashes, no dash in front, 63 at most';

/** Tells whether a skill may have this name. */
export function isSkillName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Checks a package's name and version, those it refers to, then references to itself.
 *
 * @throws ClawError NAME_INVALID, VERSION_INVALID, GRAPH_INVALID with the place in the manifest
 */
export function checkIdentity(manifest: Manifest): void {
  const named: readonly (readonly [key: string, name: string])[] = [
    ...manifest.depends.map(({ name }, at) => [`depends.${at}`, name] as const),
    ...manifest.conflicts.map((name, at) => [`conflicts.${at}`, name] as const),
  ];
  for (const [key, name] of [['skill', manifest.skill] as const, ...named]) {
    if (!isSkillName(name)) {
      throw refusal(
        'NAME_INVALID',
        key,
        `${JSON.stringify(name)} is not a valid name: ${NAME_RULE}`,
      );
    }
  }
  checkVersion('version', manifest.version);
  checkVersion('core_version', manifest.coreVersion);
  for (const [at, { range }] of manifest.depends.entries()) {
    if (range.trim() === '' || validRange(range) === null) {
      throw refusal(
        'VERSION_INVALID',
        `depends.${at}`,
        `${JSON.stringify(range)} is not a semver range`,
      );
    }
  }
  for (const [key, name] of named) {
    if (name === manifest.skill) {
      throw refusal('GRAPH_INVALID', key, `${name} refers to itself`);
    }
  }
}

function checkVersion(key: string, version: string): void {
  const parsed = parse(version);
  const build = parsed === null || parsed.build.length === 0 ? '' : `+${parsed.build.join('.')}`;
  // semver also reads `v1.0.0`; two spellings of one version must not count as two.
  if (parsed === null || `${parsed.version}${build}` !== version) {
    throw refusal(
      'VERSION_INVALID',
      key,
      `${JSON.stringify(version)} is not a semver version such as 1.0.0`,
    );
  }
}

function refusal(
  code: 'NAME_INVALID' | 'VERSION_INVALID' | 'GRAPH_INVALID',
  key: string,
  reason: string,
): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError(code, `${path}: ${reason}.`, { path });
}

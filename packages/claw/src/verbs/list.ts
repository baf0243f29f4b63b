import { join } from 'node:path';
import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { ClawError } from '../errors.ts';
import { readConfig } from '../installed/config.ts';
import { readState } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { readPackage } from '../package/read-package.ts';
import { bundledSkills } from '../package/sources/sources.ts';

/** Lists the applied layers: `[{ name, version, digest, source }]`, with the commit of a source in git. */
export function list({ root }: EngineContext): VerbResult<'list'> {
  const layers = readState(root)?.layers ?? [];
  const data = layers.map(({ name, kind, version, digest, source, commit }) => ({
    name,
    version,
    digest,
    source,
    ...(commit ? { commit } : {}),
    ...(kind === 'skill' ? {} : { kind }),
  }));
  return resultOf('list', 'done', { data });
}

/** Lists the packages in `skills/`, with the reason for those that do not fit. */
export function listAvailable({ root }: EngineContext): VerbResult<'list'> {
  const config = readConfig(root);
  const applied = new Set(readState(root)?.layers.map(({ name }) => name));
  const warnings: string[] = [];
  const data = bundledSkills(root).flatMap((name) => {
    try {
      const { manifest } = readPackage(join(root, 'skills', name), {
        protectedPaths: config.protected,
      });
      const { skill, version, description } = manifest;
      return [{ name: skill, version, description, applied: applied.has(skill) }];
    } catch (error) {
      if (!(error instanceof ClawError)) throw error;
      warnings.push(`skills/${name}: ${error.message}`);
      return [];
    }
  });
  return resultOf('list', 'done', { data, warnings });
}

/** Returns one line for each skill. */
export function listLines(entries: DataOf<'list'>): readonly string[] {
  if (entries.length === 0) return ['None.'];
  return entries.map((entry) => {
    const { name, version } = entry;
    if (!('description' in entry)) {
      return entry.kind === 'customisation' ? `${name}  (yours)` : `${name} ${version}`;
    }
    const { description, applied } = entry;
    return `${name} ${version}${applied ? ' (applied)' : ''}${description ? `  ${description}` : ''}`;
  });
}

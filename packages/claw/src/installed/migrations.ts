import type { TreeFile } from '@patchclaw/merge';
import { compare, valid, validRange } from 'semver';
import { z } from 'zod';
import { ClawError } from '../errors.ts';
import { treePathFault } from '../package/checks/protection.ts';
import type { PathMap } from '../package/manifest/path-map.ts';
import { parsePlainYaml } from '../package/manifest/plain-yaml.ts';

export const MIGRATIONS_PATH = 'migrations.yaml';

const LIMITS = { sizeBytes: 1024 * 1024, depth: 8 };
const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'is not a valid name of a skill');
const Wanted = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}(@.+)?$/, 'is not a valid name of a skill')
  .refine((text) => validRange(rangeOf(text) ?? '*') !== null, 'has a range that is not valid');
// A folder moves as a whole; its names may end with a slash.
const MovedPath = z
  .string()
  .refine((path) => treePathFault(path.replace(/\/$/, '')) === null, 'is not a path of a project');

const Entry = z
  .strictObject({
    since: z.string().refine((text) => valid(text) !== null, 'is not a version'),
    description: z.string().default(''),
    skill: Wanted.optional(),
    retire: Name.optional(),
    path_map: z.record(MovedPath, MovedPath).optional(),
  })
  .refine(
    ({ skill, retire, path_map }) => (skill ?? retire ?? path_map) !== undefined,
    'has neither skill nor retire nor path_map',
  );
const List = z.array(Entry);
const MigrationsFile = z.strictObject({ migrations: List });

/** A codebase may have had a file of this name, for tools of its own, long before it heard of us. */
const OUR_KEYS = /(^|[\s{,])["']?(since|skill|retire|path_map)["']?\s*:/m;

/** A release's entry for installations of releases before `since`. */
export type Migration = {
  readonly since: string;
  readonly description: string;
  /** Keeps the old behaviour; applied by itself, removable later. */
  readonly skill: string | null;
  /** The versions of it that will do; null for whichever the release brings. */
  readonly range: string | null;
  /** A skill that the core has made needless, or null. */
  readonly retire: string | null;
  /** Old path → new path, for packages that were written before. */
  readonly paths: Readonly<Record<string, string>> | null;
};

/**
 * Reads a release's `migrations.yaml`, in the order of the versions; none where there is no such file, or
 * one that holds nothing of ours.
 *
 * @throws ClawError YAML_INVALID, SCHEMA_INVALID with the place in the file
 */
export function readMigrations(file: TreeFile | null): readonly Migration[] {
  if (file === null || !OUR_KEYS.test(file.bytes.toString('utf8'))) return [];
  const raw = parsePlainYaml(file.bytes, MIGRATIONS_PATH, LIMITS) ?? [];
  const parsed = Array.isArray(raw) ? List.safeParse(raw) : MigrationsFile.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = [MIGRATIONS_PATH, issue?.path.join('.') ?? ''].filter((part) => part).join(':');
    throw new ClawError(
      'SCHEMA_INVALID',
      `${path}: ${issue?.message ?? 'does not fit'}. The release is at fault; ask its maintainers.`,
      { path },
    );
  }
  const entries = Array.isArray(parsed.data) ? parsed.data : parsed.data.migrations;
  return entries
    .map(({ since, description, skill, retire, path_map }) => ({
      since,
      description,
      skill: skill?.replace(/@.*$/, '') ?? null,
      range: skill === undefined ? null : rangeOf(skill),
      retire: retire ?? null,
      paths: path_map ?? null,
    }))
    .sort((one, other) => compare(one.since, other.since));
}

function rangeOf(wanted: string): string | null {
  return /@(.+)$/.exec(wanted)?.[1] ?? null;
}

/** Returns the moves among migrations. */
export function pathMapsOf(migrations: readonly Migration[]): readonly PathMap[] {
  return migrations.flatMap(({ since, paths }) => (paths === null ? [] : [{ since, paths }]));
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { satisfies, validRange } from 'semver';
import { z } from 'zod';
import type { State } from '../../installed/state-file.ts';

const Ranges = z.record(z.string(), z.string()).catch({});
const Wanted = z.object({
  dependencies: Ranges.default({}),
  devDependencies: Ranges.default({}),
});
const Installed = z.object({ version: z.string() });

/** Tells whether the last command with work for npm skipped it. */
export function wasSkipped(state: State | null): boolean {
  return state?.structured['package-lock.json']?.['skipped'] === true;
}

/** Returns the names of packages that a `package.json` asks for and that are not installed in a fitting version. */
export function lackingPackages(root: string, packageJson: TreeFile | null): readonly string[] {
  const wanted = Wanted.safeParse(parseJson(packageJson?.bytes.toString('utf8') ?? '{}')).data;
  const all = { ...wanted?.devDependencies, ...wanted?.dependencies };
  return Object.entries(all)
    .filter(([name, range]) => !isInstalled(root, name, range))
    .map(([name]) => name)
    .sort();
}

function isInstalled(root: string, name: string, range: string): boolean {
  const version = readVersion(join(root, 'node_modules', name, 'package.json'));
  if (version === null) return false;
  // For anything but a range (a folder, an address), being installed is enough.
  return validRange(range) === null || satisfies(version, range, { includePrerelease: true });
}

function readVersion(path: string): string | null {
  try {
    return Installed.parse(parseJson(readFileSync(path, 'utf8'))).version;
  } catch {
    return null; // Absent or broken: not installed, as far as anything can use it.
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // Refused by the schema.
  }
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '.claw/packages';
const PACKED = /\.package$/;

/**
 * Returns the names of the skills in the code, from the packages that the engine keeps: each a file, or a folder of
 * an earlier engine.
 */
export function keptSkills(projectDir: string): readonly string[] {
  try {
    const entries = readdirSync(join(projectDir, FOLDER), { withFileTypes: true });
    const names = entries.flatMap((entry) => {
      if (entry.isDirectory()) return [entry.name];
      return PACKED.test(entry.name) ? [entry.name.replace(PACKED, '')] : [];
    });
    return names.filter((name) => !name.includes('.')).toSorted();
  } catch {
    return []; // Nothing was applied here.
  }
}

/** Tells whether a skill is in the code. */
export function isKeptSkill(projectDir: string, name: string): boolean {
  const place = join(projectDir, FOLDER, name);
  return existsSync(`${place}.package`) || existsSync(place);
}

/** Returns a file of a kept package; null if it has none at that path. */
export function readKeptFile(projectDir: string, skill: string, path: string): Buffer | null {
  const place = join(projectDir, FOLDER, skill);
  return readPacked(`${place}.package`, path) ?? read(join(place, path));
}

/** Reads one file of many that are kept as one: a line of JSON that lists them, then their bytes. */
function readPacked(place: string, path: string): Buffer | null {
  const bytes = read(place);
  if (bytes === null) return null;
  let at = bytes.indexOf('\n') + 1;
  for (const entry of entriesIn(bytes.toString('utf8', 0, at))) {
    if (entry.path === path) return bytes.subarray(at, at + entry.sizeBytes);
    at += entry.sizeBytes;
  }
  return null;
}

type Entry = { readonly path: string; readonly sizeBytes: number };

function entriesIn(head: string): readonly Entry[] {
  try {
    const { files } = JSON.parse(head) as { readonly files: readonly Entry[] };
    return [...files];
  } catch {
    return []; // Damaged, which `claw doctor` says.
  }
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null; // Not there, or no file.
  }
}

import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { parseSkillFile, type SkillFile } from './front-matter.ts';
import {
  type Asks,
  asksOf,
  languageByHead,
  languageByName,
  type Script,
} from './inferred-requirements.ts';

export const SKILL_FILE = 'SKILL.md';
/** A longer `SKILL.md` is a mistake: the model would have to read it whole. */
const MAX_BYTES = 1_048_576;
/** Read of each file: more than any front matter, and than the body of an `always` skill that is shown. */
const READ_BYTES = 65_536;
/** Files of one folder that are looked at for links. */
const MAX_LOOKED_AT = 500;
const MAX_DEPTH = 5;
/** Scripts of one folder that are read for what they ask for. */
const MAX_SCRIPTS = 20;

/** A folder of a skill, read; or the reason why it is left out. */
export type SkillFolder =
  | { readonly kind: 'read'; readonly file: SkillFile; readonly asks: Asks }
  | { readonly kind: 'left-out'; readonly reason: string };

/** Reads folders of skills, and keeps what it has read until path, size or time of change differ. */
export class SkillReader {
  readonly #kept = new Map<string, { readonly key: string; readonly folder: SkillFolder }>();

  /** @param root the folder of skills that it is in, which its links may not leave */
  async read(path: string, root: string): Promise<SkillFolder> {
    try {
      const [file, folder, scripts] = await Promise.all([
        stat(join(path, SKILL_FILE)),
        stat(path),
        scriptFiles(path),
      ]);
      const changes = scripts.map(({ name, changedMs, size }) => `${name} ${changedMs} ${size}`);
      const key = [file.mtimeMs, file.size, folder.mtimeMs, ...changes].join('\n');
      const kept = this.#kept.get(path);
      if (kept?.key === key) return kept.folder;
      const read = await readFolder(path, root, scripts);
      this.#kept.set(path, { key, folder: read });
      return read;
    } catch (error) {
      return leftOut(reasonOf(error));
    }
  }

  /** Forgets the folders that are not there any more. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
  }
}

async function readFolder(
  path: string,
  root: string,
  scripts: readonly ScriptFile[],
): Promise<SkillFolder> {
  // Its name stands in the prompt, where a line of its own could pass for one of the assistant's.
  if (/\p{Cc}/u.test(path)) return leftOut('its name has line breaks or other control characters');
  const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
  if (!isWithin(real, realRoot)) return leftOut(`it is a link to ${real}, outside ${root}`);
  const astray = await linkOutOf(real);
  if (astray !== null) return leftOut(astray);
  const text = await headOf(join(real, SKILL_FILE));
  try {
    const file = parseSkillFile(text, path.slice(dirname(path).length + 1));
    return { kind: 'read', file, asks: asksOf(file.body, await readScripts(real, scripts)) };
  } catch (error) {
    return leftOut(reasonOf(error));
  }
}

/** A file that may be a script, by its path below the skill's folder. */
type ScriptFile = { readonly name: string; readonly changedMs: number; readonly size: number };

/**
 * Lists the files beside a SKILL.md that may be scripts: by the end of their names, or without any in a folder that is
 * called so. Links are left out.
 */
async function scriptFiles(folder: string): Promise<readonly ScriptFile[]> {
  const found: ScriptFile[] = [];
  const waiting = [{ name: '', depth: 1 }];
  let seen = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name: parent, depth } = next;
    const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      seen += 1;
      if (seen > MAX_LOOKED_AT || found.length >= MAX_SCRIPTS) return found;
      const name = join(parent, entry.name);
      const isOrdinary = !entry.name.startsWith('.') && entry.name !== 'node_modules';
      if (entry.isDirectory() && depth < MAX_DEPTH && isOrdinary) {
        waiting.push({ name, depth: depth + 1 });
      } else if (entry.isFile() && mayBeScript(name)) {
        const { mtimeMs, size } = await stat(join(folder, name));
        found.push({ name, changedMs: mtimeMs, size });
      }
    }
  }
  return found;
}

function mayBeScript(name: string): boolean {
  return languageByName(name) !== null || /(?:^|\/)(?:scripts|bin)\/[^./]+$/.test(name);
}

async function readScripts(
  folder: string,
  files: readonly ScriptFile[],
): Promise<readonly Script[]> {
  const read = files.map(async ({ name }): Promise<readonly Script[]> => {
    try {
      const text = await beginningOf(join(folder, name));
      const language = languageByName(name) ?? languageByHead(text);
      return language === null || text.includes('\0') ? [] : [{ language, text }];
    } catch {
      return []; // It is gone, or may not be read: the agent could not run it either.
    }
  });
  return (await Promise.all(read)).flat();
}

/** Finds a link in a folder that leads out of it. */
async function linkOutOf(folder: string): Promise<string | null> {
  const waiting = [{ path: folder, depth: 1 }];
  let seen = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const entry of await readdir(next.path, { withFileTypes: true })) {
      seen += 1;
      if (seen > MAX_LOOKED_AT) return null;
      const path = join(next.path, entry.name);
      if (entry.isDirectory() && next.depth < MAX_DEPTH) {
        waiting.push({ path, depth: next.depth + 1 });
      } else if (entry.isSymbolicLink()) {
        const to = await realpath(path).catch(() => null);
        if (to !== null && !isWithin(to, folder)) {
          return `${relative(folder, path)} is a link to ${to}, outside its folder`;
        }
      }
    }
  }
  return null;
}

async function headOf(path: string): Promise<string> {
  // Asked before it is opened: a pipe would never end.
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`its ${SKILL_FILE} is not a file`);
  if (found.size > MAX_BYTES) {
    const size = (found.size / 1_048_576).toFixed(1);
    throw new Error(
      `its ${SKILL_FILE} has ${size} MB; 1 MB is the most, details belong in files beside it`,
    );
  }
  const text = await beginningOf(path);
  if (text.includes('\0')) throw new Error(`its ${SKILL_FILE} is not text`);
  return text;
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function leftOut(reason: string): SkillFolder {
  return { kind: 'left-out', reason };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES') return 'it may not be read';
  if (code === 'ELOOP') return 'its links lead in a circle';
  if (code === 'ENOENT') return `its ${SKILL_FILE} is a link to something that is not here`;
  return error.message;
}

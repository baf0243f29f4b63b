import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The limit of names to read: a huge folder must not hold up every turn. */
const MAX_SEEN = 5_000;
const MAX_DEPTH = 8;

export type MarkdownFile = {
  /** Relative to the folder. */
  readonly path: string;
  readonly sizeBytes: number;
};

/** Returns the Markdown files below a folder, newest first. Links are not followed, hidden folders left out. */
export async function listMarkdown(folder: string): Promise<readonly MarkdownFile[]> {
  const paths: string[] = [];
  let seen = 0;
  const folders = [{ path: '', depth: 1 }];
  // Goes folder by folder from the top: the limit cuts off the deepest files.
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const { path, depth } = next;
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
    // A folder with a SKILL.md holds instructions, not work in progress.
    if (path !== '' && entries.some(({ name }) => name === 'SKILL.md')) continue;
    for (const entry of entries) {
      seen += 1;
      if (seen > MAX_SEEN) break;
      const name = join(path, entry.name);
      if (entry.isFile() && /\.md$/i.test(name) && isPlain(name)) paths.push(name);
      else if (entry.isDirectory() && depth < MAX_DEPTH && isLookedInto(entry.name))
        folders.push({ path: name, depth: depth + 1 });
    }
  }
  const found = await Promise.all(paths.map((path) => describe(folder, path)));
  return found
    .flatMap((each) => each ?? [])
    .sort((one, other) => other.changedAt - one.changedAt || (one.path < other.path ? -1 : 1));
}

function isLookedInto(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules' && isPlain(name);
}

/** Tells whether a name can be shown; one that could pass for a line of the prompt is not. */
function isPlain(name: string): boolean {
  return !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name);
}

async function describe(folder: string, path: string) {
  try {
    const { size, mtimeMs } = await lstat(join(folder, path));
    return { path, sizeBytes: size, changedAt: mtimeMs };
  } catch {
    // Gone since it was listed.
    return null;
  }
}

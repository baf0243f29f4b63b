import { lstat, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

const MAX_BYTES = 65_536;

/** The owner's list of files and folders that agents of some groups see, beside their own folders. */
const MountsFile = z.strictObject({
  mounts: z.array(
    z.strictObject({
      /** A file or folder of the host: absolute, or from `~/`. */
      path: z.string().regex(/^(\/|~\/)/, 'must begin with / or ~/'),
      /** The name below `/workspace/extra`; the last part of its path by default. */
      as: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be a plain name')
        .optional(),
      /** Folders of the groups that see it, such as `main`. */
      groups: z.array(z.string().min(1)).min(1),
      write: z.boolean().default(false),
    }),
  ),
});

export type WantedMount = z.output<typeof MountsFile>['mounts'][number];

/**
 * Reads the owner's list; without the file there is nothing on it.
 *
 * @throws Error in words for the owner, naming the file and what is wrong
 */
export async function readMountsFile(path: string): Promise<readonly WantedMount[]> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (found === null) return [];
  if (!found.isFile()) throw new Error(`${path} is not a plain file.`);
  // A user who can write to it can show agents any file of the owner's.
  if ((found.mode & 0o022) !== 0) {
    throw new Error(`${path} can be changed by others. Say \`chmod go-w ${path}\`.`);
  }
  if (found.size > MAX_BYTES) throw new Error(`${path} is larger than 64 KB.`);
  return parseMounts(await readFile(path, 'utf8'), path);
}

function parseMounts(text: string, path: string): readonly WantedMount[] {
  const parsed = MountsFile.safeParse(parseYaml(text, path));
  if (parsed.success) return parsed.data.mounts;
  const [issue] = parsed.error.issues;
  throw new Error(`${path}: ${issue?.path.join('.')}: ${issue?.message}`);
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, logLevel: 'error' });
  } catch (error) {
    const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw new Error(`${path} is not valid YAML: ${line}`);
  }
}

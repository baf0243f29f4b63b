import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';

/**
 * Imports every `*.ts` of a folder, tests apart, and collects what those export under one name.
 * Adding a channel, a command or a tool is therefore adding a file.
 *
 * Files are taken by name, so the order is the same everywhere. A file without that export is
 * somebody's part; one that exports the wrong thing, or that cannot be loaded, throws and names
 * itself, because a tree with such a file must not come up.
 */
export async function discoverExports<T>(
  folder: string,
  exportName: string,
  schema: z.ZodType<T>,
): Promise<readonly T[]> {
  const names = (await readdir(folder))
    .filter((name) => name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(name))
    .sort();
  const found = await Promise.all(
    names.map(async (name): Promise<T | null> => {
      const module: unknown = await import(pathToFileURL(join(folder, name)).href);
      const exported = (module as Readonly<Record<string, unknown>>)[exportName];
      if (exported === undefined) return null;
      const parsed = schema.safeParse(exported);
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      throw new TypeError(
        `${join(folder, name)}: its export "${exportName}" does not fit: ${issue?.path.join('.')} ${issue?.message}`,
      );
    }),
  );
  return found.filter((value) => value !== null);
}

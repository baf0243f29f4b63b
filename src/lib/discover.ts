import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { faultIn, noteFile, TreeFault } from './tree-fault.ts';

/**
 * Imports every `*.ts` of a folder, tests apart, and collects what those export under one name.
 * Adding a channel, a command or a tool is therefore adding a file.
 *
 * Files are taken by name, so the order is the same everywhere. A folder below is looked through where `rooms` names
 * it; others belong to a file beside them. A file without that export is
 * a part of another file; one that exports the wrong thing, or that cannot be loaded, throws and names
 * itself, because a tree with such a file must not come up.
 */
export async function discoverExports<T>(
  folder: string,
  exportName: string,
  schema: z.ZodType<T>,
  rooms: readonly string[] = [],
): Promise<readonly T[]> {
  const names = await filesIn(folder, rooms);
  const found = await Promise.all(
    names.map(async (name): Promise<T | null> => {
      const file = join(folder, name);
      const module = await load(file);
      const exported = module[exportName];
      if (exported === undefined) {
        refuseOtherName(file, module, { exportName, schema });
        return null;
      }
      const parsed = schema.safeParse(exported);
      if (parsed.success) {
        noteFile(parsed.data, file);
        return parsed.data;
      }
      const [issue] = parsed.error.issues;
      throw new TreeFault(
        `${file}: its export "${exportName}" does not fit: ${issue?.path.join('.')} ${issue?.message}`,
      );
    }),
  );
  refuseTwins(folder, names, found);
  return found.filter((value) => value !== null);
}

/** Returns files by their path in the folder, in the order of their names. */
async function filesIn(folder: string, rooms: readonly string[]): Promise<readonly string[]> {
  const inside = await readdir(folder);
  const there = rooms.filter((room) => inside.includes(room));
  const below = await Promise.all(
    there.map(async (room) => (await readdir(join(folder, room))).map((name) => join(room, name))),
  );
  return [...inside, ...below.flat()]
    .filter((path) => path.endsWith('.ts') && !/\.(test|d)\.ts$/.test(path))
    .sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
}

async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const what = cause instanceof SyntaxError ? 'cannot be read' : 'cannot be loaded';
    throw faultIn(file, what, cause);
  }
}

/** Refuses what would be taken in under the right name: nobody would be told that it is not there. */
function refuseOtherName(
  file: string,
  module: Readonly<Record<string, unknown>>,
  { exportName, schema }: { readonly exportName: string; readonly schema: z.ZodType },
): void {
  for (const [name, value] of Object.entries(module)) {
    if (typeof Object(value)['name'] !== 'string' || !schema.safeParse(value).success) continue;
    throw new TreeFault(`${file} exports "${name}", which has to be called "${exportName}".`);
  }
}

/** Refuses two exports of one name: of two tools, the model would be shown one and the other would run. */
function refuseTwins(folder: string, files: readonly string[], found: readonly unknown[]): void {
  const holders = new Map<string, string>();
  for (const [index, value] of found.entries()) {
    const name = Object(value)['name'];
    const file = join(folder, files[index] ?? '');
    if (typeof name !== 'string') continue;
    const holder = holders.get(name);
    if (holder !== undefined) {
      throw new TreeFault(`${holder} and ${file} are both called "${name}". Rename one of them.`);
    }
    holders.set(name, file);
  }
}

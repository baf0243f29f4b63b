import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { configFile, entriesOf } from './config.ts';

/**
 * Changes the owner's list and nothing else in its file. `null` takes a server out.
 *
 * @throws Error in words for the owner where the file cannot be read as it is
 */
export function editConfig(dataDir: string, name: string, entry: object | null): void {
  const path = configFile(dataDir);
  const text = read(path);
  const listed = entriesOf(text);
  if (typeof listed === 'string') throw new Error(`${listed} Mend ${path} first.`);
  const { [name]: _, ...others } = listed;
  const mcpServers = entry === null ? others : { ...others, [name]: entry };
  const whole = { ...(JSON.parse(text) as object), mcpServers };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{"mcpServers":{}}';
    throw error;
  }
}

/** Makes an entry of what the owner typed: an address, or a command with its words. */
export function entryOf(
  typed: string,
  over: { readonly groups: readonly string[]; readonly network: boolean },
): object {
  const groups = over.groups.length === 0 ? {} : { groups: over.groups };
  if (/^https?:\/\//.test(typed)) return { url: typed, ...groups };
  const words = [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  );
  const [command = '', ...args] = words;
  return { command, args, ...(over.network ? { network: true } : {}), ...groups };
}

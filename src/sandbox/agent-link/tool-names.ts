import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TreeFault } from '../../lib/tree-fault.ts';

/** The name in a definition as its file writes it; the file itself runs in containers only. */
const NAME = /\bdefineTool\(\s*\{\s*name:\s*(['"`])([^'"`]+)\1/;

/**
 * Returns the names of the agent's own tools. Refuses two that have one name: of two, only the last would be
 * there.
 *
 * @throws TreeFault naming both files
 */
export function namesOfAgentTools(projectDir: string): readonly string[] {
  const folder = join(projectDir, 'container/agent/tools');
  if (!existsSync(folder)) return [];
  const holders = new Map<string, string>();
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const path = join(folder, file);
    const name = NAME.exec(readFileSync(path, 'utf8'))?.[2];
    if (name === undefined) continue;
    const holder = holders.get(name);
    if (holder !== undefined) {
      throw new TreeFault(`${holder} and ${path} are both called "${name}". Rename one of them.`);
    }
    holders.set(name, path);
  }
  return [...holders.keys()].sort();
}

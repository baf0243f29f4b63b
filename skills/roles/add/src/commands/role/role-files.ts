import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shortened } from '../../lib/graphemes.ts';
import { openBeneath } from '../../lib/open-beneath.ts';

/** The folder of roles, below the project. */
export const ROLES_FOLDER = 'groups/global/roles';
const NAMES = ['global', 'roles'];
/** Enough for a front matter and the first line. */
const HEAD_BYTES = 4_096;
const MAX_DESCRIPTION = 120;
const FILE = /^([a-z0-9][a-z0-9-]{0,62})\.md$/;

/** A role that there is a file for. */
export type Role = { readonly name: string; readonly description: string };

/** Lists the roles, by name. Agents can write to the folder of all groups: no link is followed there. */
export async function listRoles(projectDir: string): Promise<readonly Role[]> {
  const groups = join(projectDir, 'groups');
  const folder = await openBeneath(groups, NAMES).catch(() => null);
  if (folder === null) return [];
  try {
    // Where there is no `/proc`, the folder is listed by its path; its files are still opened without links.
    const path =
      process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : join(groups, ...NAMES);
    const names = (await readdir(path).catch(() => [])).flatMap(
      (file) => FILE.exec(file)?.[1] ?? [],
    );
    const roles = await Promise.all(names.sort().map((name) => readRole(groups, name)));
    return roles.filter((role) => role !== null);
  } finally {
    await folder.close();
  }
}

async function readRole(groups: string, name: string): Promise<Role | null> {
  const file = await openBeneath(groups, [...NAMES, `${name}.md`]).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { name, description: descriptionIn(buffer.subarray(0, bytesRead).toString()) };
  } finally {
    await file.close();
  }
}

/** Returns the description of a front matter, else the first line of text. */
function descriptionIn(text: string): string {
  const [, head = ''] = /^\uFEFF?---([\s\S]*?)\n---/.exec(text) ?? [];
  const [, said] = /^description:[ \t]*(.+)$/m.exec(head) ?? [];
  const first = text.split('\n').find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  const line = (said ?? first)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/^[#>* -]+/, '')
    .trim();
  return shortened(line, MAX_DESCRIPTION);
}

import { lchownSync, lstatSync, type Stats } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

/** The agent's numeric user where the host is root and can give files away. */
export const AGENT_UID = 1000;

/** The user that the agent is, as the host's files see it. */
export type AgentUser = { readonly uid: number; readonly gid: number };

/**
 * Root gives the agent a user of its own; any other user can only run it as themselves.
 *
 * @param own the host's user id, or null where the system has none
 */
export function agentUser(own: AgentUser | null): AgentUser {
  if (own === null || own.uid === 0) return { uid: AGENT_UID, gid: AGENT_UID };
  return own;
}

/**
 * Makes a folder that the agent can write to, including everything in it.
 *
 * It runs only while no container can write there, and changes the owner of links themselves, never of their targets:
 * otherwise an agent could be given any file of the host.
 */
export async function giveFolder(path: string, user: AgentUser): Promise<void> {
  await mkdir(path, { recursive: true });
  if (process.getuid?.() === 0) await giveAway(Buffer.from(path), user);
}

const SLASH = Buffer.from('/');

/**
 * Files that are looked at before others have their turn. Each is looked at without a promise, which costs several times
 * as much as the look: a group may have 100,000 files.
 */
const AT_A_TIME = 100;

/** Paths are bytes: an agent's archive may bring names that are no UTF-8. */
async function giveAway(path: Buffer, user: AgentUser): Promise<void> {
  const waiting = [path];
  for (let looked = 1; ; looked += 1) {
    const next = waiting.pop();
    if (next === undefined) return;
    if (looked % AT_A_TIME === 0) await setImmediate();
    const found = statOf(next);
    // ENAMETOOLONG: only the agent can have created a path this deep, so it owns it already.
    if (found === null) continue;
    if (found.uid !== user.uid || found.gid !== user.gid) lchownSync(next, user.uid, user.gid);
    if (!found.isDirectory()) continue;
    for (const name of await readdir(next, { encoding: 'buffer' })) {
      waiting.push(Buffer.concat([next, SLASH, name]));
    }
  }
}

function statOf(path: Buffer): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG') return null;
    throw error;
  }
}

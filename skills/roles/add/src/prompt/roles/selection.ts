import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Role = z.string().nullable();
const Selection = z.object({
  current: Role,
  /** The role that was chosen while agents were at work. */
  next: z.object({ role: Role }).nullable(),
});

/** The role of all chats, and the one that is queued; a role of null is none. */
export type Selection = z.output<typeof Selection>;

const NONE: Selection = { current: null, next: null };

/** Reads the selection; none where nothing was ever selected, or the file cannot be read as one. */
export function readSelection(dataDir: string): Selection {
  try {
    return Selection.parse(JSON.parse(readFileSync(pathIn(dataDir), 'utf8')));
  } catch {
    // A spoilt file is written anew with the next `/role`.
    return NONE;
  }
}

/** Keeps the selection, whole or not at all. */
export function writeSelection(dataDir: string, selection: Selection): void {
  const path = pathIn(dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(selection)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Chooses a role: at once, or once no agent works. Returns the selection as it is then. */
export function selectRole(dataDir: string, role: string | null, isIdle: boolean): Selection {
  const { current } = readSelection(dataDir);
  const selection = isIdle ? { current: role, next: null } : { current, next: { role } };
  writeSelection(dataDir, selection);
  return selection;
}

/** Returns the role of a turn that begins. A queued one takes its place where no other agent works. */
export function roleOfTurn(dataDir: string, othersAtWork: number): string | null {
  const selection = readSelection(dataDir);
  if (selection.next === null || othersAtWork > 0) return selection.current;
  const { role } = selection.next;
  writeSelection(dataDir, { current: role, next: null });
  return role;
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'role.json');
}

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Kept = z.object({ jids: z.array(z.string()) });
const FILE = 'voice.json';

/** A chat, and the folder of its group, with which what is kept of it is deleted. */
export type VoiceChat = { readonly jid: string; readonly folder: string };

/** Returns the chats of a group's folder in which answers are spoken. */
export function spokenChats(dataDir: string, folder: string): readonly string[] {
  return jidsIn(join(dataDir, 'of-chats', folder));
}

/** Tells whether answers in this chat are spoken. */
export function isSpokenIn(dataDir: string, jid: string): boolean {
  return foldersIn(dataDir).some((folder) => spokenChats(dataDir, folder).includes(jid));
}

/** Has answers in this chat spoken, or not any more. It is on disk when this returns. */
export function setSpoken(dataDir: string, { jid, folder }: VoiceChat, isOn: boolean): void {
  const place = join(dataDir, 'of-chats', folder);
  const others = jidsIn(place).filter((one) => one !== jid);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const path = join(place, FILE);
  const text = JSON.stringify({ jids: isOn ? [...others, jid] : others });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function jidsIn(place: string): readonly string[] {
  try {
    return Kept.parse(JSON.parse(readFileSync(join(place, FILE), 'utf8'))).jids;
  } catch {
    return []; // Most chats have none.
  }
}

function foldersIn(dataDir: string): readonly string[] {
  try {
    return readdirSync(join(dataDir, 'of-chats'));
  } catch {
    return [];
  }
}

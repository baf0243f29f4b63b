import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnds } from './files/read-ends.ts';
import type { Places } from './prompt-section.ts';

const MAX_LISTED = 50;

type MemoryPlaces = Pick<Places, 'group' | 'global' | 'notes'>;

/** Returns what the agent remembers. It is read again for each turn, so the owner's edits count at once. */
export async function memorySection(
  places: MemoryPlaces,
  tools: readonly string[],
): Promise<string> {
  const mayWriteGlobal = tools.includes('write_global_memory');
  const [global, group, notes, files] = await Promise.all([
    memoryFile(places.global, 'Memory shared by all groups'),
    memoryFile(places.group, 'Memory of this group'),
    ownNotes(places.notes),
    otherFiles(places.group),
  ]);
  const parts = [layersOf(places, mayWriteGlobal), global, group, notes, files];
  return parts.filter((part) => part !== '').join('\n\n');
}

function layersOf({ group, global, notes }: MemoryPlaces, mayWriteGlobal: boolean): string {
  return [
    '# What you remember',
    'Conversations end; only what is written down lasts. Asked to remember something, write it down before you say that you will, with `remember` or by editing the file:',
    `- ${group}/CLAUDE.md: what the people here ask you to remember, their wishes and plans. They can read it.`,
    `- ${global}/CLAUDE.md: what holds in every group. ${mayWriteGlobal ? 'Every group reads it: nothing that is private to one chat. Only you here may change it, and the other files of that folder, with `write_global_memory`; your file tools and the shell can only read there.' : 'You can read it, only the main chat may change it.'}`,
    `- ${notes}/*.md: your own notes, for what you find out yourself and want to know next time: how things are done here, what went wrong. Short notes are shown below; MEMORY.md comes first.`,
    `- any other file in ${group}: work in progress, such as lists, drafts and research.`,
    'Correct or take out what is not true any more. What was said before this conversation is found with search_history.',
  ].join('\n');
}

/** The most that is shown of one CLAUDE.md, in bytes. */
export const MAX_MEMORY_BYTES = 32_768;
/** The most that is shown of the agent's own notes together, in bytes. */
export const MAX_NOTES_BYTES = 16_384;

async function memoryFile(folder: string, title: string): Promise<string> {
  const path = `${folder}/CLAUDE.md`;
  const text = await readEnds(path, MAX_MEMORY_BYTES);
  return text === null ? '' : `# ${title} (${path})\n\n${text}`;
}

/** Returns the notes that fit, MEMORY.md before the newest, and the names of the others. */
async function ownNotes(folder: string): Promise<string> {
  const found = await listMarkdown(folder);
  const isIndex = ({ path }: { readonly path: string }): boolean => path === 'MEMORY.md';
  const notes = [...found.filter(isIndex), ...found.filter((note) => !isIndex(note))];
  if (notes.length === 0) return '';
  const shown: string[] = [];
  const named: string[] = [];
  let left = MAX_NOTES_BYTES;
  for (const { path, sizeBytes } of notes) {
    const isShown = sizeBytes <= left || path === 'MEMORY.md';
    const text = isShown ? await readEnds(`${folder}/${path}`, left) : null;
    if (isShown) left -= Math.min(left, sizeBytes);
    if (text !== null) shown.push(`## ${path}\n\n${text}`);
    else if (named.length < MAX_LISTED) named.push(`- ${path} (${sizeBytes} bytes)`);
  }
  const rest = named.length === 0 ? [] : [`Read when needed:\n${named.join('\n')}`];
  return [`# Your own notes (${folder})`, ...shown, ...rest].join('\n\n');
}

/** The limit of names to read: a huge folder must not hold up every turn. */
const MAX_SEEN = 5_000;
const MAX_DEPTH = 8;

type MarkdownFile = {
  /** Relative to the folder. */
  readonly path: string;
  readonly sizeBytes: number;
};

/** Returns the Markdown files below a folder, newest first. Links are not followed, hidden folders left out. */
async function listMarkdown(folder: string): Promise<readonly MarkdownFile[]> {
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

async function otherFiles(folder: string): Promise<string> {
  const found = (await listMarkdown(folder)).filter(({ path }) => path !== 'CLAUDE.md');
  if (found.length === 0) return '';
  const lines = found
    .slice(0, MAX_LISTED)
    .map(({ path, sizeBytes }) => `- ${path} (${sizeBytes} bytes)`);
  const more = found.length > MAX_LISTED ? [`- and ${found.length - MAX_LISTED} older ones`] : [];
  return [`# Markdown files in ${folder}, newest first`, '', ...lines, ...more].join('\n');
}

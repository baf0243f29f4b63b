import { listMarkdown } from './files/markdown-files.ts';
import { readEnds } from './files/read-ends.ts';
import { MAX_MEMORY_BYTES, MAX_NOTES_BYTES } from './memory-limits.ts';
import type { Places } from './prompt-section.ts';

const MAX_LISTED = 50;

type MemoryPlaces = Pick<Places, 'group' | 'global' | 'notes'>;

/** Returns what the agent remembers. It is read again for each turn, so that the owner's edits count at once. */
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

async function otherFiles(folder: string): Promise<string> {
  const found = (await listMarkdown(folder)).filter(({ path }) => path !== 'CLAUDE.md');
  if (found.length === 0) return '';
  const lines = found
    .slice(0, MAX_LISTED)
    .map(({ path, sizeBytes }) => `- ${path} (${sizeBytes} bytes)`);
  const more = found.length > MAX_LISTED ? [`- and ${found.length - MAX_LISTED} older ones`] : [];
  return [`# Markdown files in ${folder}, newest first`, '', ...lines, ...more].join('\n');
}

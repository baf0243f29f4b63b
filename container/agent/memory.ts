import { readFile } from 'node:fs/promises';
import { cutText } from '../../src/sandbox/answer-text.ts';

const MAX_MEMORY_BYTES = 65_536;

/** What every group knows, then what this one knows. */
const FILES = [
  { path: '/workspace/global/CLAUDE.md', title: 'Memory shared by all groups' },
  { path: '/workspace/group/CLAUDE.md', title: 'Memory of this group' },
];

/** The system prompt: who the assistant is, as the host says, where it works, and what it remembers. */
export async function systemPrompt(identity: string): Promise<string> {
  const parts = [identity, PLACE];
  for (const { path, title } of FILES) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.trim() === '') continue;
    parts.push(`# ${title} (${path})\n\n${cutText(text, MAX_MEMORY_BYTES).text.trim()}`);
  }
  return parts.join('\n\n');
}

const PLACE =
  'You work in a container without a network. /workspace/group is your folder and your current ' +
  'directory; what you write there stays. Note what should be remembered in its CLAUDE.md. ' +
  '/workspace/media holds the files that get_attachment has fetched, for reading. ' +
  '/workspace/extra holds what the owner shares with this group, where there is anything. ' +
  '/tmp is emptied when the container ends.';

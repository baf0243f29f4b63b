import { open, stat } from 'node:fs/promises';
import { readHead } from '../files/read-head.ts';
import { daysShown, localNow, NotesFacts } from '../notes/turn-facts.ts';
import { defineSection } from '../prompt-section.ts';

/** Limits of what is shown: MEMORY.md, all days together, and the end of HISTORY.md. */
const MAX_MEMORY_BYTES = 16_384;
const MAX_DAYS_BYTES = 12_288;
const MAX_HISTORY_BYTES = 3_072;

/** Shows the notes of the last days, and after the end of a conversation what came before it. */
export const section = defineSection({
  name: 'notes',
  order: 850,
  facts: NotesFacts,
  create:
    () =>
    async ({ facts, places: { group }, isLoop }) => {
      if (isLoop) return null;
      const [memory, days, history] = await Promise.all([
        readHead(`${group}/MEMORY.md`, MAX_MEMORY_BYTES),
        notesOf(group, daysShown(facts)),
        facts.beginsAnew ? endOf(`${group}/HISTORY.md`, MAX_HISTORY_BYTES) : null,
      ]);
      const parts = [
        introduction(facts, group),
        memory === null ? null : `# MEMORY.md of this chat (${group}/MEMORY.md)\n\n${memory}`,
        days === '' ? null : `# Notes of the last days (${group}/notes)\n\n${days}`,
        history === null ? null : `# End of ${group}/HISTORY.md\n\n${history}`,
      ];
      return parts.filter((part) => part !== null).join('\n\n');
    },
});

function introduction(
  { senders, isTask, beginsAnew, ...facts }: NotesFacts,
  group: string,
): string {
  const said = senders.map(({ label, name }) =>
    name === null ? label : `${label} ${oneLine(name)}`,
  );
  const from =
    isTask || said.length === 0 ? [] : [`This turn's messages come from: ${said.join(', ')}.`];
  const before = beginsAnew
    ? [
        'The conversation before this one has ended: if HISTORY.md does not tell how, look at its end with search_history and add it with `note` (where: history).',
      ]
    : [];
  return [
    '# Notes',
    `Beside what you remember for good (\`remember\`), keep notes: \`note\` adds a line to ${group}/notes/${localNow({ senders, isTask, beginsAnew, ...facts }).day}.md with the time and a label of who it comes from, for what happens, is promised or planned these days. When a piece of work or a conversation ends, \`note\` with where: history adds two to four lines to ${group}/HISTORY.md: what was asked, what came of it, what is open. \`search_notes\` finds paragraphs in all of it, memories too; the words themselves that were said are in search_history.`,
    ...from,
    ...before,
  ].join('\n');
}

/** Returns the notes of the days, oldest first; where they are too long, the oldest give way. */
async function notesOf(group: string, days: readonly string[]): Promise<string> {
  const shown: string[] = [];
  let left = MAX_DAYS_BYTES;
  for (const day of days.toReversed()) {
    const path = `${group}/notes/${day}.md`;
    const text = left > 0 ? await endOf(path, left) : null;
    if (text === null) continue;
    left -= Buffer.byteLength(text);
    shown.unshift(`## ${day}\n\n${text}`);
  }
  return shown.join('\n\n');
}

/** Returns the end of a file, which is its newest part, from the beginning of a line. */
async function endOf(path: string, maxBytes: number): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return null;
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const length = Math.min(found.size, maxBytes);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(length),
      0,
      length,
      found.size - length,
    );
    const text = buffer.subarray(0, bytesRead).toString();
    if (length === found.size) return text.trim() === '' ? null : text.trim();
    const whole = text.slice(text.indexOf('\n') + 1).trim();
    return `[${found.size} bytes in all; the beginning is in ${path}]\n${whole}`;
  } finally {
    await file.close();
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}[\]]+/gu, ' ')
    .trim()
    .slice(0, 60);
}

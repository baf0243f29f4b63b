import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { appendLines } from '../notes/append.ts';
import { localNow, NotesFacts } from '../notes/turn-facts.ts';

export const tool = defineTool({
  name: 'note',
  repeat: 'once',
  brings: 'own',
  description:
    'Adds a note of today, or a summary to the history of this chat, with the time and who it comes from. For facts that last, use remember.',
  input: z.object({
    text: z.string().trim().min(1).max(8_000).describe('Whole enough to be understood alone'),
    where: z
      .enum(['day', 'history'])
      .default('day')
      .describe('day: a line in the notes of today. history: a paragraph in HISTORY.md'),
    by: z
      .enum(['sender', 'assistant'])
      .default('sender')
      .describe('sender: it comes from the person who asks. assistant: you found it yourself'),
  }),
  async run({ text, where, by }, { groupFolder, factsOf }) {
    const facts = NotesFacts.parse(factsOf('notes'));
    const { day, time } = localNow(facts);
    const label = by === 'assistant' ? facts.own : facts.label;
    const path = where === 'day' ? `${groupFolder}/notes/${day}.md` : `${groupFolder}/HISTORY.md`;
    await appendLines(
      path,
      where === 'day' ? line(text, `${time} ${label}`) : paragraph(text, `${day} ${time} ${label}`),
    );
    return `Noted in ${path}.`;
  },
});

/** Returns an item of a list; lines that go on are indented, so that none can pass for another's note. */
function line(text: string, head: string): string {
  return `- ${head} ${text.replace(LINE_END, '\n  ')}`;
}

function paragraph(text: string, head: string): string {
  // Blank lines would part the paragraph from its label, and a heading would look like another's.
  const lines = text.split(LINE_END).filter((each) => each.trim() !== '');
  return `\n## ${head}\n${lines.map((each) => each.replace(/^(\s*)#/, '$1\\#')).join('\n')}`;
}

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

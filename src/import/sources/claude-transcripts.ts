import { join } from 'node:path';
import { z } from 'zod';
import { text } from '../../lib/bounded-schema.ts';
import type { SourceMessage } from '../imported-items.ts';
import { isFile, namesIn } from '../source-files.ts';
import { jsonLines, momentOfAny, wordsOf } from './gateway.ts';

const Line = z.looseObject({
  type: z.enum(['user', 'assistant']),
  uuid: text(200),
  timestamp: z.union([text(100), z.number()]),
  isSidechain: z.boolean().nullish(),
  isApiErrorMessage: z.boolean().nullish(),
  message: z.looseObject({ content: z.unknown() }),
});
const ToolResult = z.looseObject({ type: z.literal('tool_result') });

/**
 * Reads the answers of a chat from the transcripts of Claude Code, which has a folder for each working folder with a JSONL
 * file for each session. Of the words of a turn only the last were sent to the chat; helpers' words never were.
 */
export function answersInTranscripts(projects: string, jid: string): readonly SourceMessage[] {
  return namesIn(projects).flatMap((project) =>
    namesIn(join(projects, project))
      .filter((name) => name.endsWith('.jsonl') && isFile(join(projects, project, name)))
      .flatMap((name) => answersOf(join(projects, project, name), jid)),
  );
}

function answersOf(path: string, jid: string): readonly SourceMessage[] {
  const answers: SourceMessage[] = [];
  let last: SourceMessage | null = null;
  const endTurn = () => {
    if (last !== null) answers.push(last);
    last = null;
  };
  for (const raw of jsonLines(path)) {
    const line = Line.safeParse(raw).data;
    if (line === undefined || line.isSidechain || line.isApiErrorMessage) continue;
    const { content } = line.message;
    if (line.type === 'user') {
      const isResult =
        Array.isArray(content) && content.some((part) => ToolResult.safeParse(part).success);
      if (!isResult) endTurn();
      continue;
    }
    const words = wordsOf(content)
      .replace(/<internal>[\s\S]*?<\/internal>/g, '')
      .trim();
    const at = momentOfAny(line.timestamp);
    if (words === '' || at === null) continue;
    const id = `transcript/${line.uuid}`;
    last = { jid, id, sender: null, senderName: null, isOwner: false, text: words, at };
  }
  endTurn();
  return answers;
}

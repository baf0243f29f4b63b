import { closeSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readEnvFile } from '../env-file.ts';
import { type ChatOverview, withReadOnlyQueries } from '../store/read-only-queries.ts';
import { defineVerb, type VerbCall, VerbError } from '../verb.ts';
import { namedChats } from './assistant/named-chat.ts';
import type { ExportedChat } from './export/format.ts';
import { jsonLines, markdownLines } from './export/formats.ts';
import { maskSecrets } from './export/mask.ts';

const FORMATS = { md: markdownLines, jsonl: jsonLines } as const;

/** Prints or writes down what was said in a chat. */
export const verb = defineVerb({
  name: 'export',
  help: 'print all that was said in a chat, as Markdown or JSON lines, with times and people',
  usage: { argument: '<chat...>', help: 'its name, folder or address' },
  options: [
    { flags: '--format <md|jsonl>', help: 'md by default; jsonl is one JSON object a line' },
    { flags: '--out <file>', help: 'write a new file, instead of printing' },
  ],
  settings: z.object({ ASSISTANT_NAME: z.string().min(1).default('Andy') }),
  create:
    ({ dataDir, projectDir, settings: { ASSISTANT_NAME: assistantName } }) =>
    async (call) => {
      const format = formatOf(call);
      const name = call.words.join(' ');
      return withReadOnlyQueries(join(dataDir, 'claw.db'), (queries) => {
        const chats = namedChats(queries.chats(), name);
        const said = queries.saidIn(chats.map(({ jid }) => jid));
        const whole = FORMATS[format](said, { chats: chats.map(chatEntry), assistantName });
        const lines = maskSecrets(whole, readEnvFile(projectDir));
        const { out } = call.options;
        if (typeof out === 'string') return writeDown(lines, resolve(projectDir, out));
        // For programs, the lines are the data: any other shape would be a third format.
        const all = [...lines];
        return { data: { chat: name, format, lines: call.isJson ? all : [] }, lines: all };
      });
    },
});

function formatOf({ options }: VerbCall): keyof typeof FORMATS {
  const format = options['format'] ?? 'md';
  if (format === 'md' || format === 'jsonl') return format;
  throw new VerbError('usage', 'An export is --format md or --format jsonl.');
}

function chatEntry({ jid, name, group }: ChatOverview): ExportedChat {
  return { jid, name: group?.name ?? name ?? jid };
}

/** Writes as the rows come: a chat can be longer than memory. */
function writeDown(lines: Iterable<string>, path: string) {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const reason = isThere ? 'it is there already' : (error as Error).message;
    throw new VerbError('failed', `${path} cannot be written: ${reason}. Name another file.`);
  }
  let count = 0;
  try {
    for (const line of lines) {
      writeSync(file, `${line}\n`);
      count += 1;
    }
  } finally {
    closeSync(file);
  }
  return { data: { path, lines: count }, lines: [`${count} lines are in ${path}.`] };
}

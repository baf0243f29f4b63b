import { closeSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readEnvFile } from '../env-file.ts';
import type { SaidInChat } from '../store/messages/transcript.ts';
import { type ChatOverview, withReadOnlyQueries } from '../store/read-only-queries.ts';
import { printable } from '../supervisor/console/printable.ts';
import { defineVerb, type VerbCall, VerbError } from '../verb.ts';
import { namedChats } from './assistant/named-chat.ts';
import { maskSecrets } from './export/mask.ts';

/** The chat that is exported; `name` is what people call it. */
type ExportedChat = { readonly jid: string; readonly name: string };

/** Facts of an export beside what was said. */
type ExportFacts = {
  readonly chats: readonly ExportedChat[];
  readonly assistantName: string;
};

/** Turns what was said into lines of a file. */
type ExportFormat = (said: Iterable<SaidInChat>, facts: ExportFacts) => Iterable<string>;

/**
 * Returns a page for people: a heading for each day, and an item for each message. Its further lines are
 * indented, so that no message can pass for another person's.
 */
const markdownLines: ExportFormat = function* markdown(said, facts) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone });
  const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone });
  const isOne = facts.chats.length === 1;
  yield `# ${oneLine(facts.chats.map(({ name }) => name).join(', '))}`;
  yield '';
  yield `Times are of ${timeZone}.`;
  let last = '';
  let isEmpty = true;
  for (const { jid, at, sender, senderName, text } of said) {
    isEmpty = false;
    const today = day.format(at);
    if (today !== last) yield* ['', `## ${today}`, ''];
    last = today;
    const name = sender === null ? facts.assistantName : oneLine(senderName ?? sender);
    const where = isOne ? '' : ` in ${chatNameOf(facts, jid)}`;
    const [first = '', ...more] = printable(text).split('\n');
    yield `- **${time.format(at)} ${name}${where}:** ${first}`;
    yield* more.map((line) => (line === '' ? '' : `  ${line}`));
  }
  if (isEmpty) yield* ['', 'Nothing has been said here.'];
};

/** Returns an object for each message, for programs; times are of ISO 8601. */
const jsonLines: ExportFormat = function* objects(said, facts) {
  for (const { jid, at, sender, senderName, isOwner, text } of said) {
    const isAssistant = sender === null;
    const line = JSON.stringify({
      at: new Date(at).toISOString(),
      chat: chatNameOf(facts, jid),
      jid,
      sender,
      name: isAssistant ? facts.assistantName : senderName,
      isOwner,
      isAssistant,
      text,
    });
    // JSON lets these through, and a terminal would obey them.
    yield line.replace(/[\u007f-\u009f]/g, (sign) => {
      return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  }
};

function chatNameOf({ chats }: ExportFacts, jid: string): string {
  return oneLine(chats.find((chat) => chat.jid === jid)?.name ?? jid);
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

const FORMATS = { md: markdownLines, jsonl: jsonLines } as const;

/** Prints or writes down what was said in a chat. */
export const verb = defineVerb({
  name: 'export',
  help: 'print everything that was said in a chat, as Markdown or JSON lines, with times and people',
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

import { readdirSync, unlinkSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';
import { list, text } from '../../lib/bounded-schema.ts';
import { inFolderBeneath, readTextBeneath } from '../../lib/open-beneath.ts';

/** A conversation of a chat's agent: one file in the folder of the agent's own. */
export type ConversationFile = {
  readonly id: string;
  /** The group's folder. */
  readonly folder: string;
  readonly beganAt: number;
  readonly lastAt: number;
  readonly sizeBytes: number;
};

/** One entry of a conversation, as a person reads it. */
export type Entry = {
  readonly role: 'user' | 'assistant' | 'tool' | 'summary';
  /** The text that was said; for a tool, its result. */
  readonly text: string;
  /** The tools that the assistant called here. */
  readonly tools: readonly string[];
};

/** The names of an agent's conversations below `data/sessions/<folder>`. */
const PLACE = ['.claude', 'sessions'];
const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;
/** A conversation that goes on for years; a longer one is not read. */
const LONGEST_BYTES = 67_108_864;

/** Finds all conversations, or those of one folder, the newest first. Agents write there: links are not followed. */
export async function findConversations(
  dataDir: string,
  onlyFolder: string | null,
): Promise<readonly ConversationFile[]> {
  const root = join(dataDir, 'sessions');
  const folders = onlyFolder === null ? await namesIn(root) : [onlyFolder];
  const found = await Promise.all(
    folders.map((folder) =>
      inFolderBeneath(root, [folder, ...PLACE], (path) => filesIn(path, folder)).catch(() => []),
    ),
  );
  return found.flat().toSorted((one, other) => other.lastAt - one.lastAt);
}

async function namesIn(root: string): Promise<readonly string[]> {
  return await readdir(root).catch(() => []); // No agent has worked yet.
}

async function filesIn(path: string, folder: string): Promise<readonly ConversationFile[]> {
  const ids = readdirSync(path).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  const files = ids.map(async (id) => {
    const { isFile, ...facts } = await lstat(join(path, `${id}.jsonl`)).then((stats) => ({
      isFile: stats.isFile(),
      // Some file systems do not know when a file was made.
      beganAt: Math.min(stats.birthtimeMs || stats.mtimeMs, stats.mtimeMs),
      lastAt: stats.mtimeMs,
      sizeBytes: stats.size,
    }));
    return isFile ? [{ id, folder, ...facts }] : [];
  });
  return (await Promise.all(files)).flat();
}

/** Reads a conversation; null for one that is gone, or too long. */
export async function readConversation(
  dataDir: string,
  { folder, id }: Pick<ConversationFile, 'folder' | 'id'>,
): Promise<readonly Entry[] | null> {
  const names = [folder, ...PLACE, `${id}.jsonl`];
  const whole = await readTextBeneath(join(dataDir, 'sessions'), names, LONGEST_BYTES).catch(
    () => null,
  );
  return whole === null ? null : whole.split('\n').flatMap(entryOf);
}

/** Opens the folder of a conversation, and hands over what deletes its file: at once, and once only. */
export async function withRemoval<T>(
  dataDir: string,
  { folder, id }: Pick<ConversationFile, 'folder' | 'id'>,
  use: (remove: () => void) => T,
): Promise<T> {
  return await inFolderBeneath(join(dataDir, 'sessions'), [folder, ...PLACE], (path) =>
    use(() => unlinkSync(join(path, `${id}.jsonl`))),
  );
}

const Part = z.object({
  type: text(100),
  text: text(MESSENGER_BOUNDS.maxBytes).optional(),
  toolName: text(1_000).optional(),
  output: z.object({ value: z.unknown() }).optional(),
});
const Message = z.object({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.union([text(MESSENGER_BOUNDS.maxBytes), list(Part)]),
});
const Summary = z.object({ kind: z.literal('summary'), text: text(MESSENGER_BOUNDS.maxBytes) });

/** Reads one line; what is cut or no message is left out, as the agent leaves it out. */
function entryOf(line: string): readonly Entry[] {
  if (line === '') return [];
  const value = jsonWithin(line, MESSENGER_BOUNDS);
  const summary = Summary.safeParse(value).data;
  if (summary !== undefined) return [{ role: 'summary', text: summary.text, tools: [] }];
  const message = Message.safeParse(value).data;
  if (message === undefined) return [];
  const { role, content } = message;
  if (typeof content === 'string') return [{ role, text: content, tools: [] }];
  return [
    {
      role,
      text: content
        .map(wordsOf)
        .filter((part) => part !== '')
        .join('\n'),
      tools: content.flatMap(({ type, toolName }) =>
        type === 'tool-call' && toolName !== undefined ? [toolName] : [],
      ),
    },
  ];
}

function wordsOf({ type, text: said, output, toolName }: z.output<typeof Part>): string {
  if (type === 'text') return said ?? '';
  if (type === 'tool-result') {
    const value = output?.value;
    return `${toolName ?? 'tool'}: ${typeof value === 'string' ? value : JSON.stringify(value ?? null)}`;
  }
  return type === 'image' || type === 'file' ? `(${type})` : '';
}

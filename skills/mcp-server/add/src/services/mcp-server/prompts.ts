import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ErrorCode,
  type GetPromptResult,
  McpError,
  type Prompt,
  type PromptMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { parse } from 'yaml';
import { z } from 'zod';
import { readResource } from './resources.ts';
import type { ServerParts } from './server-parts.ts';

/** Folders whose prompts are offered: a name that both have is that of the first. */
const FOLDERS = ['main', 'global'];
const MOST_PROMPTS = 200;
const FILE = /^([A-Za-z0-9][\w-]{0,63})\.md$/;
const PLACE = /\{\{\s*([A-Za-z]\w{0,31})\s*\}\}/g;

const Head = z.object({
  description: z.string().optional(),
  /** A description of each argument, by its name. */
  arguments: z.record(z.string(), z.string()).default({}),
});

type PromptFile = { readonly prompt: Prompt; readonly body: string };

const CATCH_UP: Prompt = {
  name: 'catch_up',
  description: 'What was said in a chat, summed up',
  arguments: [{ name: 'chat', description: 'The folder of the chat', required: true }],
};

/** Lists the prompts: one of the skill's own, and the owner's Markdown files in `prompts/` of main and global. */
export async function listPrompts(parts: ServerParts): Promise<Prompt[]> {
  const own = await readPrompts(parts);
  return [CATCH_UP, ...own.map(({ prompt }) => prompt)];
}

/** Fills a prompt with its arguments. @throws McpError where there is none of that name, or an argument lacks */
export async function getPrompt(
  parts: ServerParts,
  name: string,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GetPromptResult> {
  if (name === CATCH_UP.name) return await catchUp(parts, given, signal);
  const found = (await readPrompts(parts)).find(({ prompt }) => prompt.name === name);
  if (found === undefined) throw invalid(`There is no prompt ${name}.`);
  const text = found.body.replaceAll(PLACE, (_, argument: string) => argumentOf(given, argument));
  return { description: found.prompt.description, messages: [said({ type: 'text', text })] };
}

/** Proposes values of an argument: chats, where it is one. */
export async function completePrompt(
  parts: ServerParts,
  name: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const prompt = (await listPrompts(parts)).find((one) => one.name === name);
  if (prompt === undefined) throw invalid(`There is no prompt ${name}.`);
  return argument.name === 'chat' ? chatsFrom(parts, argument.value) : [];
}

/** Returns the folders of chats that begin with these letters. */
export function chatsFrom({ store }: Pick<ServerParts, 'store'>, begin: string): readonly string[] {
  const folders = new Set(store.groups.all().map(({ folder }) => folder));
  return [...folders].filter((folder) => folder.startsWith(begin.toLowerCase())).sort();
}

async function catchUp(
  parts: ServerParts,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GetPromptResult> {
  const uri = `patchclaw://history/${argumentOf(given, 'chat')}`;
  const content = await readResource(parts, uri, signal);
  if (content === null) throw invalid(`No chat is registered with the folder ${given['chat']}.`);
  const text =
    'Above is what was said last in this chat, newest first. Sum it up: what happened, what was decided, and what is open.';
  return {
    messages: [
      said({ type: 'resource', resource: { uri, ...content } }),
      said({ type: 'text', text }),
    ],
  };
}

function said(content: PromptMessage['content']): PromptMessage {
  return { role: 'user', content };
}

function argumentOf(given: Readonly<Record<string, string>>, name: string): string {
  const value = given[name];
  if (value === undefined) throw invalid(`The prompt needs the argument "${name}".`);
  return value;
}

function invalid(message: string): McpError {
  return new McpError(ErrorCode.InvalidParams, message);
}

async function readPrompts(parts: ServerParts): Promise<readonly PromptFile[]> {
  const found = new Map<string, PromptFile>();
  for (const folder of FOLDERS) {
    const entries = await readdir(join(parts.groupsDir, folder, 'prompts')).catch(() => []);
    for (const file of entries.sort().slice(0, MOST_PROMPTS)) {
      const name = FILE.exec(file)?.[1];
      if (name === undefined || name === CATCH_UP.name || found.has(name)) continue;
      const text = await parts.readGroupFile(folder, ['prompts', file]);
      if (text !== null) found.set(name, promptOf(name, text));
    }
  }
  return [...found.values()];
}

/** Reads a file with or without front matter; what stands in double braces is an argument. */
function promptOf(name: string, text: string): PromptFile {
  const [, head = '', body = text] = /^---\r?\n(.*?)\r?\n---\r?\n(.*)$/s.exec(text) ?? [];
  const { description, arguments: known } = headOf(head);
  const places = [...new Set([...body.matchAll(PLACE)].map(([, place = '']) => place))];
  const [first = ''] = body.trim().split('\n');
  const prompt: Prompt = {
    name,
    description: description ?? first.replace(/^#+\s*/, '').slice(0, 200),
    ...(places.length === 0
      ? {}
      : {
          arguments: places.map((place) => ({
            name: place,
            required: true,
            ...(known[place] === undefined ? {} : { description: known[place] }),
          })),
        }),
  };
  return { prompt, body: body.trim() };
}

function headOf(head: string): z.output<typeof Head> {
  try {
    return Head.parse(parse(head) ?? {});
  } catch {
    return { arguments: {} }; // What cannot be read describes nothing; the prompt itself is there.
  }
}

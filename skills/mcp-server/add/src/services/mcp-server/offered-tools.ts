import type { CallToolResult, LoggingLevel, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ServerParts } from './server-parts.ts';

/** Tools that only look: these run unasked. */
const LOOKING = ['list_groups', 'search_history', 'list_tasks'];
/** Tools that change something: each call is put to the owner first. */
const CHANGING = [
  'send_message',
  'schedule_task',
  'update_task',
  'pause_task',
  'resume_task',
  'cancel_task',
];
const MEMORY = 'read_memory';
const WAIT_MS = 5_000;

const CHAT = {
  type: 'string',
  description:
    'The folder of the chat that this is about, as list_groups names it; main by default',
};

/** A client's call of a tool. */
export type ClientCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Aborted when the client has cancelled it, or is gone. */
  readonly signal: AbortSignal;
  /** Called every few seconds, with a growing number, while the owner is asked. */
  readonly onWait: (count: number) => void;
  /** Called with what becomes of the call, for the client's log. */
  readonly onStep: (level: LoggingLevel, text: string) => void;
};

/** Describes the tools: those of the host that agents have as well, and one that reads memories. */
export function listTools({ tools, moreTools }: Pick<ServerParts, 'tools' | 'moreTools'>): Tool[] {
  const offered = tools
    .offered('main')
    .filter(({ name }) => LOOKING.includes(name) || CHANGING.includes(name) || isMore(name))
    .map(({ name, description, inputSchema }): Tool => {
      const properties = { ...Object(inputSchema['properties']), chat: CHAT };
      const isAsked = CHANGING.includes(name);
      return {
        name,
        description: isAsked ? `${description} The owner is asked first.` : description,
        inputSchema: { ...inputSchema, type: 'object', properties },
        // Of a tool of another skill nothing is known but its description.
        ...(LOOKING.includes(name) || isAsked
          ? { annotations: { readOnlyHint: !isAsked, openWorldHint: name === 'send_message' } }
          : {}),
      };
    });
  function isMore(name: string): boolean {
    return moreTools.some((wanted) =>
      wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted,
    );
  }
  const memory: Tool = {
    name: MEMORY,
    description: 'Returns what a chat has asked to be remembered, and what holds for all chats.',
    inputSchema: { type: 'object', properties: { chat: CHAT } },
    annotations: { readOnlyHint: true },
  };
  return [...offered, memory];
}

/** Answers a call. Never rejects: a refusal is a result that the client's model can read. */
export async function callTool(parts: ServerParts, call: ClientCall): Promise<CallToolResult> {
  const { name, signal } = call;
  const { chat = 'main', ...input } = call.input;
  if (typeof chat !== 'string') return failed('"chat" must be the folder of a chat.');
  if (name === MEMORY) return await memoryOf(parts, chat);
  if (!listTools(parts).some((tool) => tool.name === name))
    return failed(`There is no tool ${name}.`);
  const group = parts.store.groups.byFolder(chat);
  if (group === null) return failed(`No chat is registered with the folder ${chat}.`);
  if (CHANGING.includes(name)) {
    call.onStep('notice', 'The owner is asked.');
    const refusal = await refusalOf(parts, { ...call, input }, group.name);
    call.onStep(refusal === null ? 'notice' : 'warning', refusal ?? 'The owner allowed the call.');
    if (refusal !== null) return failed(refusal);
  }
  call.onStep('info', `Called for ${group.name}.`);
  const { ok, value } = await parts.tools.call({ folder: chat, name, input }, signal);
  call.onStep(ok ? 'info' : 'warning', ok ? 'Done.' : 'The call failed.');
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return ok ? said(text) : failed(text);
}

/** Shows the owner a call as it would run. @returns why it does not; null at a yes */
async function refusalOf(
  { ask, setTimer, log }: ServerParts,
  { name, input, signal, onWait }: ClientCall,
  chat: string,
): Promise<string | null> {
  const what = `\`${name}\``;
  let count = 0;
  const tell = (): void => {
    count += 1;
    onWait(count);
    cancel = setTimer(WAIT_MS, tell);
  };
  let cancel = setTimer(WAIT_MS, tell);
  try {
    const text = `A program on this machine, connected by MCP, wants to call ${what} for ${chat}.`;
    const { word } = await ask({ text, payload: input, what }, signal);
    if (signal.aborted) return 'The call was cancelled.';
    return word === 'yes' ? null : 'The owner did not allow this call.';
  } catch (error) {
    log.warn('the owner could not be asked about a call by MCP', {
      tool: name,
      error: String(error),
    });
    return 'The owner would have to allow this call, and could not be asked: it is too long, or the assistant ends.';
  } finally {
    cancel();
  }
}

async function memoryOf(
  { store, readGroupFile }: ServerParts,
  chat: string,
): Promise<CallToolResult> {
  if (store.groups.byFolder(chat) === null)
    return failed(`No chat is registered with the folder ${chat}.`);
  const [own, shared] = await Promise.all([
    readGroupFile(chat, ['CLAUDE.md']),
    readGroupFile('global', ['CLAUDE.md']),
  ]);
  return said(
    `# Of this chat\n\n${own ?? 'Nothing.'}\n\n# Of all chats\n\n${shared ?? 'Nothing.'}`,
  );
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function failed(text: string): CallToolResult {
  return { isError: true, ...said(text) };
}

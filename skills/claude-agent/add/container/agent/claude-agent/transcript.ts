import { randomUUID } from 'node:crypto';
import type { ModelMessage } from 'ai';

/** A message of the Messages API. */
export type ApiMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
};
export type Block = { readonly type: string; readonly [key: string]: unknown };

/** Returns messages as the Messages API has them: roles alternate, and results of tools are the user's. */
export function apiMessages(messages: readonly ModelMessage[]): readonly ApiMessage[] {
  const said: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of messages) {
    const content = blocksOf(message);
    if (content.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = said.at(-1);
    if (last?.role === role) last.content.push(...content);
    else said.push({ role, content });
  }
  return said;
}

function blocksOf({ role, content }: ModelMessage): Block[] {
  if (role === 'system') return [];
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return parts.flatMap((part): Block[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    if (part.type === 'file') return [pictureOf(part)];
    if (part.type === 'tool-call') {
      return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input }];
    }
    if (part.type !== 'tool-result') return [];
    const { output } = part;
    const value = 'value' in output ? output.value : '';
    return [
      {
        type: 'tool_result',
        tool_use_id: part.toolCallId,
        content: typeof value === 'string' ? value : JSON.stringify(value),
        ...(output.type.startsWith('error') ? { is_error: true } : {}),
      },
    ];
  });
}

function pictureOf({ data, mediaType }: { data: unknown; mediaType: string }): Block {
  const bytes = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : String(data);
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: bytes } };
}

/** Returns a conversation as the lines of a session of the SDK's, from which it goes on. */
export function sessionEntries(
  session: string,
  messages: readonly ApiMessage[],
): readonly object[] {
  let parentUuid: string | null = null;
  return messages.map(({ role, content }) => {
    const uuid = randomUUID();
    const entry = {
      type: role,
      uuid,
      parentUuid,
      sessionId: session,
      timestamp: new Date().toISOString(),
      isSidechain: false,
      userType: 'external',
      cwd: '/workspace/group',
      message:
        role === 'user' ? { role, content } : { ...ANSWERED, id: `msg_${uuid}`, role, content },
    };
    parentUuid = uuid;
    return entry;
  });
}

/** The fields of an answer beside its content; none is sent to a model. */
const ANSWERED = {
  type: 'message',
  model: 'earlier',
  stop_reason: 'end_turn',
  usage: { input_tokens: 0, output_tokens: 0 },
};

import type { AnthropicBody } from './anthropic-request.ts';

type Block = { readonly type: string; readonly [key: string]: unknown };

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
const MOST_MARKS = 4;

/** Returns the first rule of the Messages API that a request breaks, in the words of the real server; null for none. */
export function brokenRule(body: AnthropicBody): string | null {
  return (
    wrongTool(body.tools ?? []) ??
    wrongSystem(body.system) ??
    wrongMessages(body) ??
    (marksIn(body) > MOST_MARKS
      ? `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marksIn(body)}.`
      : null)
  );
}

function wrongTool(tools: readonly { readonly [key: string]: unknown }[]): string | null {
  const names = tools.map(({ name }) => String(name));
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (twin !== undefined) return 'tools: Tool names must be unique.';
  for (const [at, { name, input_schema: schema }] of tools.entries()) {
    const where = `tools.${at}.custom`;
    if (!TOOL_NAME.test(String(name))) {
      return `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (!isFields(schema)) return `${where}.input_schema: Field required`;
    if (schema['type'] !== 'object') return `${where}.input_schema.type: Field required`;
    if (['oneOf', 'allOf', 'anyOf'].some((key) => key in schema)) {
      return `${where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
    if (!keysOf(schema).every((key) => PROPERTY.test(key))) {
      return `${where}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
    }
  }
  return null;
}

/** Returns the names of all properties, at every depth. */
function keysOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  if (!isFields(schema)) return [];
  const own = isFields(schema['properties']) ? Object.keys(schema['properties']) : [];
  return [...own, ...Object.values(schema).flatMap(keysOf)];
}

function wrongSystem(system: AnthropicBody['system']): string | null {
  if (!Array.isArray(system)) return null;
  return system.some(isBlankText) ? 'system: text content blocks must be non-empty' : null;
}

function wrongMessages({ messages }: AnthropicBody): string | null {
  const used = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    const where = `messages.${at}.content`;
    if (content.length === 0 || (typeof content === 'string' && content.trim() === '')) {
      return `messages.${at}: all messages must have non-empty content`;
    }
    if (typeof content === 'string') continue;
    for (const [index, block] of content.entries()) {
      if (isBlankText(block))
        return 'messages: text content blocks must contain non-whitespace text';
      if (block.type === 'tool_use') {
        const wrong = wrongCall(block, `${where}.${index}.tool_use`, used);
        if (wrong !== null) return wrong;
      }
      if (block.type === 'tool_result') {
        const id = String(block['tool_use_id']);
        if (role !== 'user')
          return `${where}.${index}: tool_result blocks are only allowed in user messages`;
        if (!CALL_ID.test(id))
          return `${where}.${index}.tool_result.tool_use_id: String should match pattern '${CALL_ID.source}'`;
        const before = messages[at - 1]?.content ?? [];
        const calls =
          typeof before === 'string' ? [] : before.filter(({ type }) => type === 'tool_use');
        if (!calls.some((call) => call['id'] === id)) {
          return `${where}.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`;
        }
        const inner = Array.isArray(block['content']) ? (block['content'] as Block[]) : [];
        if (inner.some(isBlankText))
          return 'messages: text content blocks must contain non-whitespace text';
        const first = content.findIndex(({ type }) => type !== 'tool_result');
        if (first !== -1 && first < index) return `${where}: tool_result blocks must come first`;
      }
      if (block.type === 'thinking' && String(block['signature'] ?? '') === '') {
        return `${where}.${index}.thinking.signature: Field required`;
      }
    }
  }
  return null;
}

function wrongCall(block: Block, where: string, used: Set<string>): string | null {
  const id = String(block['id']);
  if (!CALL_ID.test(id)) return `${where}.id: String should match pattern '${CALL_ID.source}'`;
  if (used.has(id)) return 'messages: `tool_use` ids must be unique';
  used.add(id);
  if (!TOOL_NAME.test(String(block['name']))) {
    return `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  }
  return isFields(block['input']) ? null : `${where}.input: Input should be a valid dictionary`;
}

function marksIn({ system, tools, messages }: AnthropicBody): number {
  const blocks = [
    ...(Array.isArray(system) ? system : []),
    ...(tools ?? []),
    ...messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content)),
  ];
  return blocks.filter((block) => 'cache_control' in block && block['cache_control']).length;
}

function isBlankText({ type, text }: Block): boolean {
  return type === 'text' && String(text ?? '').trim() === '';
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

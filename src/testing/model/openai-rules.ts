/** A request of chat completions, as far as its rules look. */
export type ChatBody = Readonly<Record<string, unknown>>;

type Fields = Readonly<Record<string, unknown>>;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_ID = 40;
const MOST_TOOLS = 128;
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/**
 * Returns the first rule that a request breaks, in the words of OpenAI and of servers that are stricter (Mistral, Kimi,
 * DeepSeek); null for none.
 */
export function brokenChatRule(body: ChatBody): string | null {
  return wrongTools(body['tools']) ?? wrongMessages(listOf(body['messages']));
}

function wrongTools(given: unknown): string | null {
  if (given === undefined) return null;
  const tools = listOf(given);
  if (tools.length === 0)
    return "Invalid 'tools': empty array. Expected an array with minimum length 1.";
  if (tools.length > MOST_TOOLS) {
    return `Invalid 'tools': array too long. Expected an array with maximum length ${MOST_TOOLS}.`;
  }
  for (const [at, tool] of tools.entries()) {
    const { name, parameters } = fieldsIn(tool['function']);
    if (!TOOL_NAME.test(String(name))) {
      return `Invalid 'tools[${at}].function.name': string does not match pattern.`;
    }
    const schema = fieldsIn(parameters);
    const invalid = `Invalid schema for function '${name}'`;
    if (schema['type'] !== 'object' || NOT_AT_TOP.some((key) => key in schema)) {
      return `${invalid}: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
    }
    const wrong = wrongSchema(schema);
    if (wrong !== null) return `${invalid}: ${wrong}`;
  }
  return null;
}

function wrongSchema(schema: unknown): string | null {
  if (schema === true) return "True is not of type 'object'.";
  const { type, items, properties, $ref, required } = fieldsIn(schema);
  if (type === 'array' && items === undefined) return 'array schema missing items.';
  if (Array.isArray(items)) return 'items is not of type object.';
  if (typeof $ref === 'string' && !$ref.startsWith('#'))
    return `reference ${$ref} cannot be resolved.`;
  const names = Object.keys(fieldsIn(properties));
  if (listOfStrings(required).some((name) => !names.includes(name))) {
    return "'required' has names that are no properties.";
  }
  const inner = [...Object.values(fieldsIn(properties)), ...(items === undefined ? [] : [items])];
  return inner.map(wrongSchema).find((wrong) => wrong !== null) ?? null;
}

function wrongMessages(messages: readonly Fields[]): string | null {
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    const where = `messages[${at}]`;
    const { role, content, tool_calls: given, tool_call_id: id } = message;
    if (role === 'tool') {
      if (!open.includes(String(id))) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`;
      }
      open = open.filter((each) => each !== id);
      if (isEmpty(content)) return `${where}: content of a tool must not be empty`;
      continue;
    }
    if (open.length > 0) {
      return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following did not have response messages: ${open.join(', ')}`;
    }
    const calls = listOf(given);
    if (given !== undefined && calls.length === 0)
      return `Invalid '${where}.tool_calls': empty array.`;
    if (isEmpty(content) && (role !== 'assistant' || calls.length === 0)) {
      return `Invalid request: the message at position ${at} with role '${role}' must not be empty`;
    }
    for (const call of calls) {
      const wrong = wrongCall(call, where);
      if (wrong !== null) return wrong;
      if (open.includes(String(call['id']))) return `Duplicate value for 'tool_call_id'`;
      open.push(String(call['id']));
    }
  }
  return open.length === 0 ? null : `${open.join(', ')} did not have response messages`;
}

function wrongCall(call: Fields, where: string): string | null {
  const id = String(call['id'] ?? '');
  if (id === '' || id.length > LONGEST_ID || !/^[a-zA-Z0-9_-]+$/.test(id)) {
    return `Invalid '${where}.tool_calls[0].id': string too long. Expected a string with maximum length ${LONGEST_ID}.`;
  }
  const { name, arguments: input } = fieldsIn(call['function']);
  if (!TOOL_NAME.test(String(name))) {
    return `Invalid '${where}.tool_calls[0].function.name': string does not match pattern.`;
  }
  try {
    const parsed: unknown = JSON.parse(String(input));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? null
      : `${where}: tool call arguments must be an object`;
  } catch {
    return `${where}: Failed to parse tool call arguments as JSON`;
  }
}

function isEmpty(content: unknown): boolean {
  if (content === null || content === undefined) return true;
  if (typeof content === 'string') return content.trim() === '';
  const parts = listOf(content);
  return (
    parts.length === 0 ||
    parts.some(({ type, text }) => type === 'text' && String(text ?? '').trim() === '')
  );
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsIn) : [];
}

function listOfStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function fieldsIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

import { createHash } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

/** Ways in which a server departs from chat completions as OpenAI made them. */
export type Dialect = {
  /** Names of a request that it refuses. */
  readonly without?: readonly string[];
  /** Takes back what a model has thought; most servers refuse it. */
  readonly takesReasoning?: true;
  /** Takes ids of tool calls of nine letters and digits only, so others of the conversation are replaced. */
  readonly shortCallIds?: true;
  /** The word that asks for a call of any tool. */
  readonly anyTool?: string;
  /** Names in JSON schemas of tools that it refuses. */
  readonly withoutInSchemas?: readonly string[];
  /** The name of the limit of an answer, where it knows only the old one. */
  readonly maxTokens?: 'max_tokens';
};

/** Rewrites a request for such a server. What is not named in the dialect stays as it is. */
export function rewrite(request: Fields, dialect: Dialect): Fields {
  const kept = without(request, dialect.without ?? []);
  return {
    ...kept,
    ...(Array.isArray(kept['messages'])
      ? { messages: kept['messages'].map((message) => messageFor(message, dialect)) }
      : {}),
    ...(Array.isArray(kept['tools'])
      ? { tools: kept['tools'].map((tool) => toolFor(tool, dialect)) }
      : {}),
    ...(dialect.anyTool !== undefined && kept['tool_choice'] === 'required'
      ? { tool_choice: dialect.anyTool }
      : {}),
    ...limitFor(kept, dialect),
  };
}

function limitFor(request: Fields, { maxTokens }: Dialect): Fields {
  const limit = request['max_completion_tokens'];
  if (maxTokens === undefined || limit === undefined) return {};
  return { max_completion_tokens: undefined, max_tokens: limit };
}

function messageFor(message: unknown, dialect: Dialect): unknown {
  if (!isFields(message)) return message;
  const { takesReasoning, shortCallIds } = dialect;
  const said = takesReasoning ? message : without(message, ['reasoning_content', 'reasoning']);
  if (!shortCallIds) return said;
  const { tool_call_id: id, tool_calls: calls } = said;
  return {
    ...said,
    ...(typeof id === 'string' ? { tool_call_id: shortId(id) } : {}),
    ...(Array.isArray(calls)
      ? {
          tool_calls: calls.map((call) =>
            isFields(call) && typeof call['id'] === 'string'
              ? { ...call, id: shortId(call['id']) }
              : call,
          ),
        }
      : {}),
  };
}

/** Returns the same short id for the same id, so that a result stays with its call. */
function shortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

function toolFor(tool: unknown, { withoutInSchemas = [] }: Dialect): unknown {
  if (withoutInSchemas.length === 0 || !isFields(tool) || !isFields(tool['function'])) return tool;
  const { parameters } = tool['function'];
  return {
    ...tool,
    function: { ...tool['function'], parameters: schemaFor(parameters, withoutInSchemas) },
  };
}

function schemaFor(schema: unknown, names: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((each) => schemaFor(each, names));
  if (!isFields(schema)) return schema;
  const entries = Object.entries(without(schema, names)).map(([name, value]) => [
    name,
    // The names in it are those of a tool's own inputs.
    name === 'properties' && isFields(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, each]) => [key, schemaFor(each, names)]),
        )
      : ['enum', 'const', 'default', 'required'].includes(name)
        ? value
        : schemaFor(value, names),
  ]);
  return Object.fromEntries(entries);
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

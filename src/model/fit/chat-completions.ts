import { jsonWithin } from '../../lib/bounded-json.ts';
import {
  CallIds,
  calledName,
  type Fields,
  type FittedRequest,
  fieldsIn,
  fitTools,
  isBlank,
  isFields,
  NOTHING,
} from './fitted-request.ts';

/** OpenAI and most others take no more. */
const MOST_TOOLS = 128;
/** OpenAI refuses longer ids. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,40}$/;

/**
 * Rewrites a request of chat completions so that its servers take it, whatever other models have left in the
 * conversation: empty messages, ids and names of calls in other signs, calls without results or with broken input.
 */
export function fitChatCompletions(request: Fields): FittedRequest {
  const declared = fieldsIn(request['tools']).map((given) => {
    const named = isFields(given['function']) ? given['function'] : {};
    const schema = isFields(named['parameters']) ? named['parameters'] : {};
    return { name: String(named['name']), schema, given };
  });
  const { taken, leftOut } = fitTools(declared, MOST_TOOLS);
  const { tools: _, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = request;
  return {
    leftOut,
    request: {
      ...rest,
      messages: messagesFor(request['messages']),
      ...(taken.length === 0
        ? {}
        : {
            tools: taken.map(({ given, schema }) => ({
              ...given,
              function: {
                ...(isFields(given['function']) ? given['function'] : {}),
                parameters: schema,
              },
            })),
            ...(choice === undefined || isGone(choice, leftOut) ? {} : { tool_choice: choice }),
            ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
          }),
    },
  };
}

function isGone(choice: unknown, leftOut: FittedRequest['leftOut']): boolean {
  const named = isFields(choice) && isFields(choice['function']) ? choice['function'] : {};
  return leftOut.some(({ name }) => name === named['name']);
}

function messagesFor(given: unknown): readonly Fields[] {
  const ids = new CallIds(CALL_ID);
  const fitting: Fields[] = [];
  const strays: Fields[] = [];
  const close = (): void => {
    for (const id of ids.unanswered()) {
      fitting.push({ role: 'tool', tool_call_id: id, content: '(no result)' });
    }
    fitting.push(...strays.splice(0));
  };
  for (const message of fieldsIn(given)) {
    const { role } = message;
    const content = contentFor(message['content']);
    if (role === 'tool') {
      const id = ids.result(message['tool_call_id']);
      const said = content ?? '(no output)';
      if (id !== null) fitting.push({ ...message, tool_call_id: id, content: said });
      // A result without its call is refused, and before the other results it would part them from their calls.
      else strays.push({ role: 'user', content: `[A tool gave: ${textOf(said)}]` });
      continue;
    }
    close();
    if (role === 'system' || role === 'developer') {
      if (content !== null) fitting.push({ ...message, content });
      continue;
    }
    const calls = fieldsIn(message['tool_calls']);
    if (role !== 'assistant' || calls.length === 0) {
      const { tool_calls: _, ...plain } = message;
      fitting.push({ ...plain, content: content ?? NOTHING });
      continue;
    }
    ids.begin();
    fitting.push({
      ...message,
      content: content ?? (message['content'] === '' ? '' : null),
      tool_calls: calls.map((call) => callFor(call, ids)),
    });
  }
  close();
  return fitting;
}

/** Returns content without blank parts; null where nothing is left. */
function contentFor(content: unknown): unknown {
  if (typeof content === 'string') return isBlank(content) ? null : content;
  const parts = fieldsIn(content).filter(({ type, text }) => !(type === 'text' && isBlank(text)));
  if (parts.length === 0) return null;
  // Servers of models without pictures take a text, and no parts.
  const texts = parts.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  return texts.length === parts.length ? texts.join('\n\n') : parts;
}

function callFor(call: Fields, ids: CallIds): Fields {
  const named = isFields(call['function']) ? call['function'] : {};
  return {
    ...call,
    id: ids.call(call['id']),
    type: 'function',
    function: { ...named, name: calledName(named['name']), arguments: inputOf(named['arguments']) },
  };
}

/** Servers parse the input of earlier calls, and some fail at what is not an object. */
function inputOf(given: unknown): string {
  if (isFields(given)) return JSON.stringify(given);
  const text = typeof given === 'string' ? given : '';
  // What else the model wrote was told to it as an error; here only the form counts.
  if (isFields(jsonWithin(text))) return text;
  return isBlank(text) ? '{}' : JSON.stringify({ input: text });
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

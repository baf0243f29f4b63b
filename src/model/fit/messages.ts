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

/** Far more than the API is known to refuse; the cost of each call bounds them. */
const MOST_TOOLS = 512;
/** The ids of calls that the Messages API takes. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

type Block = Fields;
type Message = { readonly role: string; readonly content: string | readonly Block[] };
type Fitting = { readonly role: string; content: readonly Block[]; isPlain: boolean };

/**
 * Rewrites a request of the Messages API so that its servers take it, whatever other models have left in the
 * conversation: blank texts, ids and names of calls in other signs, calls without results, thoughts of another model.
 *
 * It is the same for the same conversation, so that a server's cache finds what it has read before.
 */
export function fitMessages(request: Fields): FittedRequest {
  const declared = fieldsIn(request['tools']).map((given) => ({
    name: String(given['name']),
    schema: isFields(given['input_schema']) ? given['input_schema'] : {},
    given,
  }));
  const { taken, leftOut } = fitTools(declared, MOST_TOOLS);
  const hasTools = taken.length > 0;
  const { system, tools: _, tool_choice: choice, ...rest } = request;
  const fittingSystem = systemFor(system);
  return {
    leftOut,
    request: {
      ...rest,
      ...(fittingSystem === null ? {} : { system: fittingSystem }),
      messages: messagesFor(request['messages'], hasTools),
      ...(hasTools
        ? {
            tools: taken.map(({ given, schema }) => ({ ...given, input_schema: schema })),
            ...(choice === undefined || isGone(choice, leftOut) ? {} : { tool_choice: choice }),
          }
        : {}),
    },
  };
}

function isGone(choice: unknown, leftOut: FittedRequest['leftOut']): boolean {
  return isFields(choice) && leftOut.some(({ name }) => name === choice['name']);
}

function systemFor(system: unknown): unknown {
  if (typeof system === 'string') return isBlank(system) ? null : system;
  const blocks = fieldsIn(system).filter((block) => !isBlankText(block));
  return blocks.length === 0 ? null : blocks;
}

function messagesFor(given: unknown, hasTools: boolean): readonly Message[] {
  const ids = new CallIds(CALL_ID);
  const fitting: Fitting[] = [];
  const add = (role: string, content: readonly Block[], isPlain = false): void => {
    if (content.length === 0) return;
    const last = fitting.at(-1);
    if (last?.role !== role) fitting.push({ role, content: inOrder(content), isPlain });
    else {
      last.content = inOrder([...last.content, ...content]);
      last.isPlain = false;
    }
  };
  for (const message of fieldsIn(given)) {
    const role = message['role'] === 'assistant' ? 'assistant' : 'user';
    const { content } = message;
    const isPlain = typeof content === 'string';
    const blocks = blocksOf(content).filter((block) => !isBlankText(block));
    // Without a declared tool, servers refuse calls and results: they go on as text.
    const said = hasTools ? blocks : blocks.map(asText);
    if (role === 'assistant') {
      add('user', leftOpen(ids));
      ids.begin();
      const own = said.filter((block) => !isForeignThought(block));
      add(role, orNothing(own.map((block) => callFor(block, ids))), isPlain);
    } else {
      const results = said
        .filter((block) => !isThought(block))
        .map((block) => resultFor(block, ids));
      add(role, [...leftOpen(ids), ...orNothing(results)], isPlain);
    }
  }
  add('user', leftOpen(ids));
  const begins = fitting[0]?.role === 'assistant' ? [{ role: 'user', content: NOTHING }] : [];
  return [
    ...begins,
    ...fitting.map(({ role, content, isPlain }) => plainOr(role, content, isPlain)),
  ];
}

/** A text that came as one goes on as one. */
function plainOr(role: string, content: readonly Block[], isPlain: boolean): Message {
  const said = content[0]?.['text'];
  return { role, content: isPlain && typeof said === 'string' ? said : content };
}

function orNothing(blocks: readonly Block[]): readonly Block[] {
  return blocks.length === 0 ? [text(NOTHING)] : blocks;
}

/** Servers want the results of tools before anything else in a message. */
function inOrder(content: readonly Block[]): readonly Block[] {
  const isResult = ({ type }: Block) => Number(type === 'tool_result');
  return content.toSorted((one, other) => isResult(other) - isResult(one));
}

/** Returns results for calls that have none. */
function leftOpen(ids: CallIds): readonly Block[] {
  return ids.unanswered().map((id) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: '(no result)',
    is_error: true,
  }));
}

function callFor(block: Block, ids: CallIds): Block {
  if (block['type'] === 'tool_result') return asText(block);
  if (block['type'] !== 'tool_use') return block;
  const { input } = block;
  return {
    ...block,
    id: ids.call(block['id']),
    name: calledName(block['name']),
    input: isFields(input) ? input : { input },
  };
}

function resultFor(block: Block, ids: CallIds): Block {
  if (block['type'] === 'tool_use') return asText(block);
  if (block['type'] !== 'tool_result') return block;
  const id = ids.result(block['tool_use_id']);
  if (id === null) return asText(block);
  const { content } = block;
  if (!Array.isArray(content)) return { ...block, tool_use_id: id };
  return {
    ...block,
    tool_use_id: id,
    content: fieldsIn(content).filter((each) => !isBlankText(each)),
  };
}

function blocksOf(content: unknown): readonly Block[] {
  return typeof content === 'string' ? [text(content)] : fieldsIn(content);
}

function text(said: string): Block {
  return { type: 'text', text: said };
}

function isBlankText({ type, text: said }: Block): boolean {
  return type === 'text' && isBlank(said);
}

function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** The API takes thoughts back with their signature alone. */
function isForeignThought({ type, signature }: Block): boolean {
  return type === 'thinking' && isBlank(signature);
}

function asText(block: Block): Block {
  if (block['type'] === 'tool_use') {
    return text(`[I called ${calledName(block['name'])} ${JSON.stringify(block['input'])}]`);
  }
  if (block['type'] !== 'tool_result') return block;
  const { content } = block;
  return text(`[A tool gave: ${typeof content === 'string' ? content : JSON.stringify(content)}]`);
}

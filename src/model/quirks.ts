import { withoutCacheMarks } from './fit/cache-marks.ts';
import {
  type Fields,
  type FittedRequest,
  fieldsIn,
  isFields,
  type LeftOutTool,
} from './fit/fitted-request.ts';

/** Fields without which a request still asks the same. */
const OPTIONAL = [
  'temperature',
  'top_p',
  'top_k',
  'parallel_tool_calls',
  'reasoning_effort',
  'verbosity',
  'stream_options',
  'metadata',
  'user',
  'seed',
];
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const;
/** A limit below this is no limit of answers, but a number of something else. */
const SMALLEST_LIMIT = 256;

/**
 * Features that a model's server has refused since the start. Each refusal is understood once; then the same request
 * is sent without its cause.
 */
export interface Quirks {
  /** The longest answer that the server takes, as it said; null while it has said nothing. */
  readonly maxAnswerTokens: number | null;
  /** Tools that it is not offered: those that do not fit its protocol, and those that it refused. */
  readonly leftOutTools: readonly LeftOutTool[];
  /** Takes note of the tools that a request for it offers, and of those that did not fit. */
  noteFit(fitted: FittedRequest): void;
  /** Returns the request without what was refused. */
  applyTo(request: Fields): Fields;
  /**
   * Learns from a refusal (400 or 422) of a request.
   *
   * @param request as it was sent
   * @returns whether the same request, with `applyTo`, would be another one now
   */
  learn(refusal: { readonly status: number; readonly body: string }, request: Fields): boolean;
}

/** Creates the memory for one model. */
export function createQuirks(): Quirks {
  let maxAnswerTokens: number | null = null;
  let isLimitRenamed = false;
  const without = new Set<string>();
  const refusedTools = new Map<string, string>();
  const unfitTools = new Map<string, string>();

  function applyTo(request: Fields): Fields {
    const plain = Object.fromEntries(Object.entries(request).filter(([key]) => !without.has(key)));
    const unmarked = without.has('cache_control') ? withoutCacheMarks(plain) : plain;
    return withoutTools(limited(withoutThoughts(unmarked)));
  }

  function withoutThoughts(request: Fields): Fields {
    if (!without.has('thinking')) return request;
    const messages = fieldsIn(request['messages']).map((message) => {
      const blocks = fieldsIn(message['content']);
      const kept = blocks.filter(({ type }) => !/^(redacted_)?thinking$/.test(String(type)));
      return kept.length === blocks.length || kept.length === 0
        ? message
        : { ...message, content: kept };
    });
    return { ...request, messages };
  }

  function limited(request: Fields): Fields {
    const name = LIMITS.find((one) => typeof request[one] === 'number');
    if (name === undefined) return request;
    const { [name]: asked, ...rest } = request;
    const most = Math.min(Number(asked), maxAnswerTokens ?? Number.POSITIVE_INFINITY);
    return { ...rest, [isLimitRenamed ? 'max_completion_tokens' : name]: most };
  }

  function withoutTools(request: Fields): Fields {
    if (refusedTools.size === 0) return request;
    const { tools, tool_choice: choice, ...rest } = request;
    const kept = fieldsIn(tools).filter((tool) => !refusedTools.has(nameOf(tool)));
    if (kept.length === 0) return rest;
    return { ...rest, tools: kept, ...(choice === undefined ? {} : { tool_choice: choice }) };
  }

  function learn({ status, body }: { status: number; body: string }, request: Fields): boolean {
    if (status !== 400 && status !== 422) return false;
    const limit = limitIn(body, request);
    if (limit !== null) {
      maxAnswerTokens = limit;
      return true;
    }
    if (
      !isLimitRenamed &&
      'max_tokens' in request &&
      /use ['"`]?max_completion_tokens/i.test(body)
    ) {
      isLimitRenamed = true;
      return true;
    }
    const tool = refusedToolIn(body, request);
    if (tool !== null && !refusedTools.has(tool)) {
      refusedTools.set(tool, `the model's server refused it: ${messageIn(body)}`);
      return true;
    }
    const field = refusedFieldIn(body, request);
    if (field === null || without.has(field)) return false;
    without.add(field);
    return true;
  }

  return {
    get maxAnswerTokens() {
      return maxAnswerTokens;
    },
    get leftOutTools() {
      return [...unfitTools, ...refusedTools].map(([name, why]) => ({ name, why }));
    },
    noteFit({ request, leftOut }) {
      for (const tool of fieldsIn(request['tools'])) unfitTools.delete(nameOf(tool));
      for (const { name, why } of leftOut) unfitTools.set(name, why);
    },
    applyTo,
    learn,
  };
}

/** Finds the longest answer in a refusal such as `max_tokens: 64000 > 8192` or `the valid range is [1, 8192]`. */
function limitIn(body: string, request: Fields): number | null {
  const name = LIMITS.find((one) => typeof request[one] === 'number');
  if (name === undefined || !/max[_ ](completion_|output_|new_)?tokens|output tokens/i.test(body)) {
    return null;
  }
  // A prompt that is too long is shortened, whatever the answer may be.
  if (/context (length|window|limit)|prompt is too long/i.test(body)) return null;
  const numbers = [...body.matchAll(/\d[\d,_]*/g)].map(([digits]) =>
    Number(digits.replace(/[,_]/g, '')),
  );
  const asked = Number(request[name]);
  const below = numbers.filter((each) => each >= SMALLEST_LIMIT && each < asked);
  return below.length === 0 ? null : Math.max(...below);
}

/** Returns the name of the tool that a refusal is about; null where it names none. */
export function refusedToolIn(body: string, request: Fields): string | null {
  const tools = fieldsIn(request['tools']);
  const [, index] = /\btools?[.[](\d+)/.exec(body) ?? [];
  const at = index === undefined ? undefined : tools[Number(index)];
  if (at !== undefined) return nameOf(at);
  const [, named] = /\b(?:function|tool)s? (?:named |name )?['"`\\]+([\w.-]+)/i.exec(body) ?? [];
  return tools.map(nameOf).find((name) => name === named) ?? null;
}

function refusedFieldIn(body: string, request: Fields): string | null {
  if (/signature/i.test(body) && /thinking/i.test(body)) return 'thinking';
  const isRefusal =
    /not support|unsupported|unrecogni[sz]ed|unknown|not permitted|not allowed|deprecated|unexpected|extra|only the default|invalid/i;
  if (!isRefusal.test(body)) return null;
  if (/cache_control/.test(body) && JSON.stringify(request).includes('"cache_control"')) {
    return 'cache_control';
  }
  return OPTIONAL.find((name) => name in request && new RegExp(`\\b${name}\\b`).test(body)) ?? null;
}

function nameOf(tool: Fields): string {
  const named = isFields(tool['function']) ? tool['function'] : tool;
  return String(named['name']);
}

/** Returns the server's own words, as far as they can be found. */
function messageIn(body: string): string {
  const [, quoted] = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
  const said = (quoted ?? body).slice(0, 300).replace(/\\(["\\/])/g, '$1');
  return said.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

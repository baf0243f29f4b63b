/** A call whose input came as an object, where the protocol has a text that holds one. */
const AS_OBJECT = /"arguments"\s*:\s*\{/;

/** Returns a `fetch` for chat completions in whose answers the input of calls is a text, also where a server sends an object. */
export function withTextArguments(plain: typeof fetch): typeof fetch {
  return async (input, init) => {
    const answer = await plain(input, init);
    if (answer.body === null || !answer.ok) return answer;
    const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream');
    const body = answer.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(byLine(isStream))
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

/** Rewrites each event of a stream, or the answer as a whole. */
function byLine(isStream: boolean): TransformStream<string, string> {
  let pending = '';
  return new TransformStream({
    transform(chunk, controller) {
      pending += chunk;
      const end = isStream ? pending.lastIndexOf('\n') : -1;
      if (end === -1) return;
      const lines = pending.slice(0, end + 1);
      pending = pending.slice(end + 1);
      controller.enqueue(AS_OBJECT.test(lines) ? lines.split('\n').map(lineOf).join('\n') : lines);
    },
    flush: (controller) => controller.enqueue(lineOf(pending)),
  });
}

function lineOf(line: string): string {
  if (!AS_OBJECT.test(line)) return line;
  const [, head = '', json = ''] = /^(data:\s*)?(.*)$/s.exec(line) ?? [];
  try {
    return head + JSON.stringify(JSON.parse(json), asText);
  } catch {
    // The reader of the answer says what is wrong with it.
    return line;
  }
}

function asText(this: unknown, key: string, value: unknown): unknown {
  const isInput = key === 'arguments' && typeof value === 'object' && value !== null;
  // Only a call has a name beside its input.
  const isCall = typeof this === 'object' && this !== null && 'name' in this;
  return isInput && isCall ? JSON.stringify(value) : value;
}

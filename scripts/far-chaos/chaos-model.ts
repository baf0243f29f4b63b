import type { AnthropicReply, AnthropicRequest } from '../../src/testing/model/anthropic.ts';

type Block = Readonly<Record<string, unknown>>;

/** What a turn does with its files, in its container. `t00012` appends to a log, writes its own file and reads the home's. */
const commandOf = (turn: string, seconds: string): string =>
  `mkdir -p files; echo ${turn} > files/${turn}.txt; ` +
  `grep -qx ${turn} log.txt 2>/dev/null || echo ${turn} >> log.txt; sleep ${seconds}; cat home/${turn}.txt`;

/**
 * Sends a message (which must not be repeated), works on files, and answers. The model of every second turn does not look
 * at what an interrupted run has done: it makes all calls again.
 */
export function chaosReply({ body }: AnthropicRequest): AnthropicReply {
  if ((body.tools ?? []).length === 0)
    return [{ type: 'text', text: 'A summary of nothing much.' }];
  const blocks = body.messages.map(({ content }): readonly Block[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
  const asked = blocks.findLastIndex(
    (list, at) => body.messages[at]?.role === 'user' && turnIn(list) !== null,
  );
  const turn = turnIn(blocks[asked] ?? []);
  if (turn === null) return [{ type: 'text', text: 'Hello.' }];
  const isForgetful = Number(turn.slice(1)) % 2 === 1;
  const since = blocks.slice(asked + 1).flat();
  const calls = since.filter(
    ({ type, id }) => type === 'tool_use' && !(isForgetful && String(id).startsWith('earlier_')),
  );
  const called = (name: string) => calls.some((call) => call['name'] === name);
  if (!called('send_message')) {
    return [{ type: 'tool_use', name: 'send_message', input: { text: `action ${turn}` } }];
  }
  if (!called('shell')) {
    const seconds = (Number(turn.slice(1)) % 4) / 2;
    return [
      { type: 'tool_use', name: 'shell', input: { command: commandOf(turn, String(seconds)) } },
    ];
  }
  const isSeen = JSON.stringify(since).includes(`from home ${turn}`);
  return [{ type: 'text', text: `done ${turn}${isSeen ? ', seen' : ''}` }];
}

/** The newest turn that a message asks for. */
function turnIn(blocks: readonly Block[]): string | null {
  const texts = blocks.filter(({ type }) => type === 'text').map(({ text }) => String(text));
  return (
    texts
      .join('\n')
      .match(/please do (t\d{5})\b/g)
      ?.at(-1)
      ?.slice(-6) ?? null
  );
}

import type { ToolContext } from '../../../container/agent/agent-tool.ts';

/**
 * Makes the context of a tool of the agent's own, outside a container: nobody answers it, and there is
 * neither host nor model. Pass what the tool needs; what the context gains later is here then.
 */
export function agentToolContext(over: Partial<ToolContext> = {}): ToolContext {
  const notHere = async () => {
    throw new Error('There is neither host nor model in this test.');
  };
  return {
    signal: new AbortController().signal,
    groupFolder: '/workspace/group',
    factsOf: () => ({}),
    ask: async () => ({ word: 'no', isAnswered: false }),
    callHost: notHere,
    runLoop: notHere,
    ...over,
  };
}

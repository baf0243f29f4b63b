import type { ToolCall, ToolContext } from '../../host/contracts/tool.ts';

/** Makes the context in which a host's tool is opened. Pass what the tool needs; what the context gains later is here then. */
export function toolContext(over: Partial<ToolContext> = {}): ToolContext {
  return {
    assistantName: 'Andy',
    dataDir: '/nowhere',
    groupsDir: '/nowhere',
    timeZone: 'UTC',
    log: { info() {}, warn() {}, error() {} },
    now: () => Date.UTC(2026, 10, 21, 12),
    newId: () => 'id',
    openDatabase: () => absent('openDatabase'),
    ...over,
  };
}

/**
 * Makes one call of a host's tool, by the agent of the chat "Family": nobody answers a question, and there is no
 * store. Pass what the tool needs; a tool that works with chats or tasks wants a whole assistant
 * (`src/testing/assistant.ts`).
 *
 * @public for skills' tests
 */
export function toolCall(over: Partial<ToolCall> = {}): ToolCall {
  return {
    caller: {
      jid: 'chat:family',
      folder: 'family',
      name: 'Family',
      needsTrigger: true,
      triggerWord: null,
      isMain: false,
    },
    get store() {
      return absent('store');
    },
    get registry() {
      return absent('registry');
    },
    get tasks() {
      return absent('tasks');
    },
    send: async () => absent('send'),
    ask: async () => ({ word: 'no', isAnswered: false }),
    reachOf: () => 'connected',
    capabilitiesOf: () => ({}),
    fetchAttachment: async () => absent('fetchAttachment'),
    timeZone: 'UTC',
    ownerCommand: async () => absent('ownerCommand'),
    callService: (service) => Promise.reject(new Error(`The service ${service} does not run now.`)),
    staySilent: null,
    idempotencyKey: null,
    signal: new AbortController().signal,
    ...over,
  };
}

function absent(name: string): never {
  throw new Error(`This test passes no ${name}.`);
}

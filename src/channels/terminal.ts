import {
  type Channel,
  type ChannelCapabilities,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
} from './channel.ts';
import type { ConsoleLine, ConsolePort } from './console-port.ts';

/** The owner's own chat. */
export const TERMINAL_JID = 'terminal:main';

const PROMPT = '> ';
/** Often enough for words to flow, and no more than a terminal can draw. */
const CAPABILITIES: ChannelCapabilities = { drafts: { everyMs: 60, staysLast: true } };

/** The terminal that the assistant was started in; absent when it runs without one. */
export const channel = defineChannel({
  name: 'terminal',
  create: ({ ownerConsole, log }) =>
    ownerConsole === null
      ? null
      : terminalChannel(ownerConsole, (message, data) => log.warn(message, data)),
});

function terminalChannel(
  port: ConsolePort,
  warn: (message: string, data: Readonly<Record<string, unknown>>) => void,
): Channel {
  let status: ChannelStatus = { state: 'stopped', detail: null };
  let lastStored = port.awaiting;
  let storing = Promise.resolve();

  async function store(events: ChannelEvents, line: ConsoleLine): Promise<void> {
    try {
      await events.onMessage(messageOf(line));
      lastStored = line.number;
      port.stored(line.number);
    } catch (error) {
      // The owner is here to be told, and can say it again: waiting would only hold up the rest.
      warn('a line could not be stored', { error: String(error) });
      const about = { answersTo: [line.id], isProgress: false };
      await port.print(
        `That could not be stored: ${error instanceof Error ? error.message : String(error)}`,
        about,
      );
      port.answered([line.id], 'failed');
      port.stored(line.number);
      port.acknowledged(line.number);
    }
  }

  return {
    name: 'terminal',
    async connect(events) {
      status = { state: 'connected', detail: null };
      port.open(PROMPT, (line) => {
        storing = storing.then(() => store(events, line));
      });
      events.onStatus(status);
    },
    async disconnect() {
      port.close();
      await storing;
      status = { state: 'stopped', detail: null };
    },
    capabilities: CAPABILITIES,
    send: ({ text, answersTo = [], isProgress = false, replaces }) =>
      port.print(text, { answersTo, isProgress, ...(replaces === undefined ? {} : { replaces }) }),
    draft: ({ id, text, activity, answersTo = [] }) =>
      port.draft({ id, text, activity, answersTo }),
    takeBack: (_jid, id) => port.dropDraft(id),
    // Where a line waits for an answer, the terminal shows that by itself, and does not forget.
    async setTyping() {},
    ownsJid: (jid) => jid.startsWith('terminal:'),
    status: () => status,
    answered: (_jid, ids, end = 'answered') => port.answered(ids, end),
    asking: (_jid, ids, isOpen) => port.asking(ids, isOpen),
    chatAcknowledged() {
      if (lastStored !== null) port.acknowledged(lastStored);
    },
  };
}

function messageOf(line: ConsoleLine) {
  return {
    id: line.id,
    jid: TERMINAL_JID,
    chatName: 'Terminal',
    isDirect: true,
    sender: 'owner',
    senderName: null,
    isOwner: true,
    mentionsAssistant: false,
    text: line.text,
    sentAt: line.typedAt,
  };
}

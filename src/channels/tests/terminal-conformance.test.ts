import { channelFrom } from '../../testing/channel/bench.ts';
import { testChannel } from '../../testing/channel/conformance.ts';
import { onlyContent } from '../../testing/channel/content-kinds.ts';
import type { FarEnd } from '../../testing/channel/far-end.ts';
import { NOTATIONS } from '../../testing/channel/shown.ts';
import type { ConsoleLine, ConsolePort } from '../console-port.ts';
import { channel, TERMINAL_JID } from '../terminal.ts';

const OWNER_ALONE = 'only the owner types there';
const NO_LINE = 'there is nothing between the assistant and its own terminal';
const NO_LIMIT = 'a terminal shows a text of any length';
const NO_CHANGES = 'a typed line cannot be changed';

testChannel({
  name: 'terminal',
  limit: Number.MAX_SAFE_INTEGER,
  notation: NOTATIONS.markdown,
  lacks: {
    restored: 'a terminal keeps nothing',
    addressed: OWNER_ALONE,
    forwarded: 'what is typed in a terminal is the owner’s',
    resent: 'the owner is told at once that a message was not stored, and can type it again',
    status: 'it exists as long as the assistant runs',
    closed: OWNER_ALONE,
    strangers: OWNER_ALONE,
    'wrong token': OWNER_ALONE,
    'revoked token': OWNER_ALONE,
    apart: NO_LINE,
    reconnect: NO_LINE,
    'back-off': NO_LINE,
    once: 'if a text is printed a second time, the owner sees it, and is told that the outcome was unknown (host/outbound)',
    'lost answer': NO_LINE,
    'lost draft': NO_LINE,
    'parts once': NO_LIMIT,
    'retry-after': NO_LINE,
    'no retry-after': NO_LINE,
    split: NO_LIMIT,
    'code blocks': NO_LIMIT,
    marks: NO_LIMIT,
    'half a frame': NO_LINE,
    'invalid UTF-8': 'the supervisor reads what is typed (src/supervisor/console)',
    '2 GB': 'a terminal has no files',
    edited: NO_CHANGES,
    deleted: NO_CHANGES,
    gone: NO_LINE,
  },
  content: onlyContent({}, 'a terminal has only typed text'),
  start: async () => supervisor(),
});

/** The other end of the port: lines that were not stored are handed over when the channel opens. */
function supervisor(): FarEnd {
  const printed: string[] = [];
  let waiting: ConsoleLine[] = [];
  let count = 0;
  let onLine: ((line: ConsoleLine) => void) | null = null;
  const port: ConsolePort = {
    awaiting: null,
    print: async (text) => void printed.push(text),
    draft: async () => {},
    dropDraft: async () => {},
    open(_prompt, listener) {
      onLine = listener;
      for (const line of waiting) listener(line);
    },
    close() {
      onLine = null;
    },
    stored(number) {
      waiting = waiting.filter((line) => line.number !== number);
    },
    answered() {},
    asking() {},
    acknowledged() {},
  };
  return {
    create: (context) => channelFrom(channel, {}, { ...context, ownerConsole: port }),
    jidOf: (place) => (place === 'direct' ? TERMINAL_JID : null),
    sendText(_from, _place, text) {
      count += 1;
      const line = { number: count, id: `run-${count}`, text, typedAt: Date.now() };
      waiting.push(line);
      onLine?.(line);
    },
    sent: () => printed.map((text) => ({ place: 'direct', text })),
    waiting: () => waiting.length,
    async [Symbol.asyncDispose]() {},
  };
}

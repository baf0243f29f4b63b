import type { Channel, ChannelContext } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/serial.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import type { FarEnd, Person, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { LineServer } from './board.ts';

const LIMIT = 2_000;
const SENDERS: Readonly<Record<Person, string>> = { friend: 'esp32', stranger: 'eve' };
const NO_TOKEN = 'a line has no token: everybody who holds the device may write';
const NO_ANSWER = 'a device does not say what it has received';
const SAID = 'a written line cannot be changed';

const LINK = 'read [this page](https://example.org/a)';

testChannel({
  name: 'serial',
  limit: LIMIT,
  notation: NOTATIONS.plain,
  content: onlyContent({ links: { sees: [LINK] } }, 'a device sends only plain text'),
  lacks: {
    restored: 'a line keeps nothing',
    addressed: 'any word can be the name of a sender, and there is one chat',
    forwarded: 'a line has no forwards',
    acknowledged:
      'a line has no acknowledgements: a device repeats an unanswered message under its id',
    resent: 'a line stores nothing: a device repeats an unanswered message under its id',
    'wrong token': NO_TOKEN,
    'revoked token': NO_TOKEN,
    'lost answer': NO_ANSWER,
    'parts once': NO_ANSWER,
    'retry-after': NO_ANSWER,
    'no retry-after': NO_ANSWER,
    '2 GB': 'a line has no files',
    edited: SAID,
    deleted: SAID,
    gone: 'there is one chat, as long as the line exists',
  },
  start: async () => farEndOf(await LineServer.start()),
});

function farEndOf(server: LineServer): FarEnd {
  const { url } = server;
  const create = (context: ChannelContext, variation: Variation) => {
    const settings = {
      SERIAL_PORT: url,
      SERIAL_ALLOW_FROM: variation === 'nobody allowed' ? '' : SENDERS.friend,
      SERIAL_MAX_CHARS: String(LIMIT),
    };
    const made = channelFrom(channel, settings, context);
    return made === null ? null : readBehind(made, server, context);
  };
  return {
    create,
    jidOf: (place) => (place === 'direct' ? 'serial:uart_default' : null),
    sendText: (from, _place, content) =>
      server.sayLasting(`${JSON.stringify({ content, sender_id: SENDERS[from] })}\n`),
    sendContent: () =>
      server.sayLasting(`${JSON.stringify({ content: LINK, sender_id: SENDERS.friend })}\n`),
    sent: () =>
      server.lines.map((line) => ({
        place: 'direct',
        text: (JSON.parse(line) as { content: string }).content,
      })),
    goDown: () => server.goDown(),
    comeUp: () => server.comeUp(),
    sendHalf() {
      server.sayLasting('{"content": "hal');
      server.unplug();
    },
    sendInvalid: () => server.sayLasting(Uint8Array.of(0x22, 0xc3, 0x28, 0xff, 0x0a)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A line takes what is written before the device has read it: the rules look at the device. */
function readBehind(made: Channel, server: LineServer, { openDatabase }: ChannelContext): Channel {
  const written = openDatabase([]).prepare('SELECT coalesce(sum(parts), 0) FROM written').pluck();
  const send = made.send.bind(made);
  made.send = async (message) => {
    await send(message);
    await server.read(Number(written.get()));
  };
  return made;
}

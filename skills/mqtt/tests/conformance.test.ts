import type { Packet } from 'mqtt-packet';
import type { ChannelContext } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/mqtt.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import type { FarEnd, Person, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { Broker } from './broker.ts';

const USER = { name: 'andy', password: 'a-word-of-its-own' };
const WRONG = 'not-that-word';
const LIMIT = 4_000;
const OUT = 'patchclaw/out';
const SENDERS: Readonly<Record<Person, string>> = { friend: 'esp32', stranger: 'eve' };
const NO_LIMITS = 'a broker never refuses a message because there are too many';
const SAID = 'a published message cannot be changed';

const LINK = 'read [this page](https://example.org/a)';

testChannel({
  name: 'mqtt',
  limit: LIMIT,
  notation: NOTATIONS.plain,
  tokenSetting: 'MQTT_PASSWORD',
  content: onlyContent({ links: { sees: [LINK] } }, 'a device sends only plain text'),
  lacks: {
    restored: 'a broker forgets a message that was acknowledged',
    addressed: 'any word can be the name of a sender or of a chat',
    forwarded: 'MQTT has no forwards',
    'parts once': NO_LIMITS,
    'retry-after': NO_LIMITS,
    'no retry-after': NO_LIMITS,
    '2 GB': 'MQTT has no files',
    edited: SAID,
    deleted: SAID,
    gone: 'a topic exists for everybody who publishes',
  },
  start: async () => farEndOf(await Broker.start({ user: USER })),
});

function farEndOf(broker: Broker): FarEnd {
  const create = (context: ChannelContext, variation: Variation) =>
    channelFrom(
      channel,
      {
        MQTT_URL: broker.url,
        MQTT_USERNAME: USER.name,
        MQTT_PASSWORD: variation === 'wrong token' ? WRONG : USER.password,
        MQTT_ALLOW_FROM: variation === 'nobody allowed' ? '' : SENDERS.friend,
        MQTT_CLIENT_ID: 'andy',
        MQTT_MAX_CHARS: String(LIMIT),
      },
      context,
    );
  return {
    create,
    jidOf: (place) => (place === 'direct' ? 'mqtt:desk' : null),
    sendText: (from, _place, content) =>
      broker.sayLasting('patchclaw/in', { content, sender_id: SENDERS[from], chat_id: 'desk' }),
    sendContent: () =>
      broker.sayLasting('patchclaw/in', {
        content: LINK,
        sender_id: SENDERS.friend,
        chat_id: 'desk',
      }),
    sent: () =>
      broker.textsOn(OUT).map((text) => ({
        place: 'direct',
        text: (JSON.parse(text) as { content: string }).content,
      })),
    secrets: [USER.password, WRONG],
    waiting: () => broker.waiting,
    goDown: () => broker.goDown(),
    comeUp: () => broker.comeUp(),
    revoke() {
      broker.changeUser({ ...USER, password: 'another' });
      broker.cut();
    },
    loseNext() {
      // The broker has it, and what comes next on the line is lost.
      let isTaken = false;
      let isLost = false;
      broker.lose = ({ cmd, ...packet }: Packet) => {
        const isMessage = cmd === 'publish' && 'topic' in packet && packet.topic === OUT;
        if (isMessage) isTaken = true;
        if (isLost || !isTaken || cmd !== 'pubrel') return false;
        isLost = true;
        return true;
      };
    },
    sendHalf() {
      broker.sendRaw(Uint8Array.of(0x32, 0x50, 0x00, 0x0c));
      broker.cut();
    },
    sendInvalid: () => broker.say('patchclaw/in', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0xff])),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

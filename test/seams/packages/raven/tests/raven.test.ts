import { channel } from '../../../src/channels/raven.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { Tower } from './tower.ts';

const LETTER = { id: 'x', from: 'ada', room: 'ada', isPrivate: true, text: 'TEXT', at: 1 };

testChannel({
  name: 'raven',
  limit: 2_000,
  lengthOf: (text) => text.length,
  notation: NOTATIONS.markdown,
  tokenSetting: 'RAVEN_TOKEN',
  lacks: {
    addressed: 'a raven knows its way and no address',
    edited: 'what a raven has carried is not changed',
    deleted: 'what a raven has carried is not taken back',
    '2 GB': 'ravens carry letters alone',
    forwarded: 'ravens pass nothing on',
    restored: 'a tower forgets a letter that was fetched',
  },
  content: onlyContent({}, 'ravens carry plain text'),
  async start() {
    const tower = await new Tower().comeUp();
    const [before = '', after = ''] = `${JSON.stringify(LETTER)}\n`.split('TEXT');
    return {
      create: (context, variation) =>
        channelFrom(
          channel,
          {
            RAVEN_TOWER: tower.url,
            RAVEN_TOKEN: variation === 'wrong token' ? 'wrong-token' : 'token-of-nobody',
            RAVEN_ALLOW_FROM: variation === 'nobody allowed' ? '' : 'ada',
          },
          context,
        ),
      jidOf: (place) => (place === 'direct' ? 'raven:ada' : 'raven:hall'),
      sendText(from, place, text) {
        const name = from === 'friend' ? 'ada' : 'eve';
        tower.write(name, place === 'direct' ? name : 'hall', text);
      },
      sent: () =>
        tower.posted.map(({ room, text }) => ({
          place: room === 'hall' ? 'group' : 'direct',
          text,
        })),
      secrets: ['token-of-nobody', 'wrong-token'],
      waiting: () => tower.waiting.length,
      goDown: () => tower.goDown(),
      comeUp: () => tower.comeUp(),
      revoke: () => tower.revoke(),
      limitNext: (seconds, later) => tower.fail(seconds, later),
      loseNext: () => tower.fail('lost'),
      sendHalf: () => tower.writeBytes(Buffer.from(before), true),
      sendInvalid: () =>
        tower.writeBytes(
          Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]),
          false,
        ),
      close: () => tower.closedRooms.add('ada'),
      [Symbol.asyncDispose]: () => tower.goDown(),
    };
  },
});

import type { ChannelContext } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/telegram.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import type { FarEnd, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import { CONTENT, sendContent } from './content.ts';
import { ADA, ADA_DIRECT, EVE, EVE_DIRECT, FAMILY, TOKEN } from './fixtures.ts';

const WRONG = '4242:AAwrong';

testChannel({
  name: 'telegram',
  limit: 4_096,
  notation: NOTATIONS.html,
  tokenSetting: 'TELEGRAM_BOT_TOKEN',
  lacks: {
    restored: 'Telegram forgets an update that a bot has fetched',
    'lost draft':
      'Telegram accepts no ids of ours, and does not list what a bot has sent: the draft stays, and ends with …',
  },
  content: CONTENT,
  start: async () => farEndOf(await startBotApi({ token: TOKEN })),
});

function farEndOf(api: BotApi): FarEnd {
  let last = 0;
  const create = (context: ChannelContext, variation: Variation) =>
    channelFrom(
      channel,
      {
        TELEGRAM_BOT_TOKEN: variation === 'wrong token' ? WRONG : TOKEN,
        TELEGRAM_ALLOW_FROM: variation === 'nobody allowed' ? '' : String(ADA.id),
        TELEGRAM_API_ROOT: api.url,
      },
      context,
    );
  const madeUp = () => {
    const update_id = api.takeUpdateId();
    const message = { message_id: 9_000, date: 1, from: ADA, chat: ADA_DIRECT, text: 'TEXT' };
    return JSON.stringify({ ok: true, result: [{ update_id, message }] });
  };
  return {
    create,
    friendTyped: [String(ADA.id), `telegram:${ADA.id}`],
    jidOf: (place) => `telegram:${place === 'direct' ? ADA.id : FAMILY.id}`,
    sendText(from, place, text) {
      const [person, own] = from === 'friend' ? [ADA, ADA_DIRECT] : [EVE, EVE_DIRECT];
      last = api.sendText(person, place === 'direct' ? own : FAMILY, text);
    },
    sent: () =>
      api.sent.map(({ chatId, source }) => ({
        place: chatId === FAMILY.id ? 'group' : 'direct',
        text: source,
      })),
    secrets: [TOKEN, WRONG],
    waiting: () => api.pending.length,
    goDown: () => api.goDown(),
    comeUp: () => api.comeUp(),
    revoke: () => api.revoke(),
    limitNext(seconds, later) {
      const parameters = seconds === null ? {} : { parameters: { retry_after: seconds } };
      const error = { error_code: 429, description: 'Too Many Requests', ...parameters };
      api.failNext('sendMessage', error, later);
    },
    loseNext: () => api.loseNext('sendMessage'),
    sendHalf: () => api.sendBytes(Buffer.from(madeUp()).subarray(0, 60), true),
    sendInvalid() {
      const [before = '', after = ''] = madeUp().split('TEXT');
      const bytes = [Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)];
      api.sendBytes(Buffer.concat(bytes), false);
    },
    sendFile(file_name, file_size) {
      const document = { file_id: 'large', file_unique_id: 'u', file_name, file_size };
      api.sendContent(ADA, ADA_DIRECT, { document });
    },
    forward: (text) =>
      api.sendText(ADA, ADA_DIRECT, text, {
        forward_origin: { type: 'user', date: 1, sender_user: { is_bot: false, ...EVE } },
      }),
    sendContent: (kind, connected) => sendContent(api, kind, connected),
    edit(text) {
      const edited = { message_id: last, date: 1, edit_date: 2, chat: ADA_DIRECT, from: ADA, text };
      api.push({ edited_message: edited });
    },
    remove: () => api.takenBack.add(last),
    close: () => api.blockedBy.add(ADA.id),
    [Symbol.asyncDispose]: () => api.goDown(),
  };
}

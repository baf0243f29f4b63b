import { channel } from '../../../src/channels/matrix.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import type { FarEnd, SentText } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { MATRIX_CONTENT, sendMatrixContent } from './content.ts';
import {
  ADA,
  ADA_DIRECT,
  BOT,
  EVE,
  EVE_DIRECT,
  HALL,
  settingsOf,
  startServer,
  TOKEN,
} from './fixtures.ts';
import type { Json, MatrixServer } from './matrix-server.ts';

const WRONG = 'syt_wrong_token';
const SEND = /^\/rooms\/[^/]+\/send\/m\.room\.message\//;

testChannel({
  name: 'matrix',
  limit: 20_000,
  notation: NOTATIONS.html,
  tokenSetting: 'MATRIX_TOKEN',
  lacks: { forwarded: 'Matrix does not mark forwarded messages' },
  content: MATRIX_CONTENT,
  start: async () => farEndOf(await startServer()),
});

function farEndOf(server: MatrixServer): FarEnd {
  let last = '';
  // Matrix keeps nothing that was said before an account was ever there.
  let cameUp = false;
  return {
    create: (context, variation) =>
      channelFrom(
        channel,
        {
          ...settingsOf(server),
          ...(variation === 'nobody allowed' ? { MATRIX_ALLOW_FROM: '' } : {}),
          ...(variation === 'wrong token' ? { MATRIX_TOKEN: WRONG } : {}),
        },
        context,
      ),
    friendTyped: [ADA, ` ${ADA} `],
    jidOf: (place) => `matrix:${place === 'direct' ? ADA_DIRECT : HALL}`,
    async sendText(from, place, text) {
      if (cameUp) await server.until(() => server.acknowledged > 0);
      const own = from === 'friend' ? ADA_DIRECT : EVE_DIRECT;
      last = server.say(place === 'group' ? HALL : own, from === 'friend' ? ADA : EVE, text);
    },
    sent: () => [...sentIn(server, ADA_DIRECT, 'direct'), ...sentIn(server, HALL, 'group')],
    secrets: [TOKEN, WRONG],
    waiting: () => server.waitingFor(BOT),
    goDown: () => server.goDown(),
    comeUp() {
      cameUp = true;
      return server.comeUp();
    },
    revoke() {
      server.sessions.delete(TOKEN);
      server.sendRaw(Buffer.from('{}'), true);
    },
    limitNext(seconds, later) {
      const named = seconds === null ? {} : { retry_after_ms: seconds * 1_000 };
      const body = { errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', ...named };
      server.failNext(SEND, { status: 429, body }, later);
    },
    loseNext: () => server.failNext(SEND, 'lost'),
    sendHalf: () =>
      server.sendRaw(Buffer.from(server.answerWith(ADA_DIRECT, ADA, 'half').slice(0, 120)), true),
    sendInvalid() {
      const [before = '', after = ''] = server.answerWith(ADA_DIRECT, ADA, 'TEXT').split('TEXT');
      const bytes = [Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)];
      server.sendRaw(Buffer.concat(bytes), false);
    },
    sendFile: (name, size) =>
      server.say(ADA_DIRECT, ADA, name, {
        msgtype: 'm.video',
        url: 'mxc://test/film',
        info: { size },
      }),
    edit: (text) =>
      server.say(ADA_DIRECT, ADA, `* ${text}`, {
        'm.new_content': { msgtype: 'm.text', body: text },
        'm.relates_to': { rel_type: 'm.replace', event_id: last },
      }),
    remove: () => server.redact(ADA_DIRECT, last, ADA),
    sendContent: (kind, connected) => sendMatrixContent(server, kind, connected),
    close: (place) => server.closed.add(place === 'direct' ? ADA_DIRECT : HALL),
    [Symbol.asyncDispose]: () => server.goDown(),
  };
}

/** Returns the texts as people see them: an edited message shows its last one. */
function sentIn(server: MatrixServer, room: string, place: SentText['place']): readonly SentText[] {
  const own = server
    .events(room)
    .filter(({ sender, content }) => sender === BOT && 'body' in content);
  const edits = own.flatMap(({ content }) => {
    const edited = content['m.new_content'] as Json | undefined;
    return edited === undefined
      ? []
      : [{ of: (content['m.relates_to'] as Json)['event_id'], edited }];
  });
  return own
    .filter(({ content }) => !('m.new_content' in content))
    .map(({ event_id: id, content }) => {
      const last = edits.findLast(({ of }) => of === id);
      return { place, text: htmlOf(last?.edited ?? content) };
    });
}

function htmlOf({ formatted_body: html, body }: Json): string {
  const escaped = String(body).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return String(html ?? escaped);
}

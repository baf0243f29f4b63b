import { setImmediate } from 'node:timers/promises';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import type { FarEnd, Place, Variation } from '../../../src/testing/channel/far-end.ts';
import type { Format, Notation } from '../../../src/testing/channel/shown.ts';
import { SIGNAL_CONTENT, sendSignalContent } from './content.ts';
import { ADA, ADA_JID, channel, EVE, GROUP, GROUP_JID, settingsOf } from './fixtures.ts';
import { SignalCli } from './signal-cli.ts';

/** Between a text and its styles. */
const BESIDE = '\u0000';

const FORMATS: Readonly<Record<string, readonly Format[]>> = {
  BOLD: ['bold'],
  ITALIC: ['italic'],
  MONOSPACE: ['code', 'code block'],
};

/** Signal has no markup: the styles are beside the text. */
const NOTATION: Notation = {
  formats: ['bold', 'italic', 'code', 'code block'],
  read(source) {
    const [text = '', ...styles] = source.split(BESIDE);
    const spans = styles.flatMap((style) => {
      const [start = 0, length = 0] = style.split(':').map(Number);
      const words = text.slice(start, start + length);
      return (FORMATS[style.split(':')[2] ?? ''] ?? []).map((format) => ({ format, text: words }));
    });
    return { text, spans };
  },
};

testChannel({
  name: 'signal',
  limit: 2_000,
  lengthOf: (source) => Buffer.byteLength(NOTATION.read(source).text),
  notation: NOTATION,
  tokenSetting: 'SIGNAL_ACCOUNT',
  lacks: {
    restored: 'signal-cli hands a message over once',
    forwarded: 'Signal does not mark forwarded messages',
    acknowledged:
      'signal-cli has no acknowledgements; an event is on disk before the host gets it (receiving.test.ts)',
  },
  content: SIGNAL_CONTENT,
  start: async () => farEndOf(await new SignalCli().comeUp()),
});

function farEndOf(cli: SignalCli): FarEnd {
  let last = 0;
  const [before = '', after = ''] = eventOf(cli, 'TEXT').split('TEXT');
  return {
    create: (context, variation) => channelFrom(channel, settings(cli, variation), context),
    friendTyped: [ADA.uuid ?? '', ADA.uuid?.toUpperCase() ?? '', ADA_JID],
    jidOf: (place) => (place === 'direct' ? ADA_JID : GROUP_JID),
    async sendText(from, place, text) {
      // What is written before the end of a reader is noticed is lost with a real signal-cli, too: SKILL.md says so.
      for (let turn = 0; turn < 3; turn += 1) await setImmediate();
      const person = from === 'friend' ? ADA : EVE;
      last = cli.say(person, text, place === 'group' ? { group: GROUP, groupName: 'Family' } : {});
    },
    sent: () =>
      cli.posted.map(({ to, message, styles }) => ({
        place: to === GROUP ? 'group' : 'direct',
        text: [message, ...styles].join(BESIDE),
      })),
    goDown: () => cli.goDown(),
    comeUp: () => cli.comeUp(),
    revoke() {
      cli.accounts = [];
      return cli.write('', true);
    },
    limitNext(retryAfterSeconds, later) {
      const results = [{ type: 'RATE_LIMIT_FAILURE', retryAfterSeconds }];
      const data = { response: { timestamp: 1, results } };
      cli.fail({ code: -5, message: 'Failed to send message due to rate limiting', data }, later);
    },
    loseNext: () => cli.fail('lost'),
    sendHalf: () => cli.write(before, true),
    sendInvalid: () =>
      cli.write(
        Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]),
      ),
    sendFile: (filename, size) =>
      cli.say(ADA, null, {
        attachments: [{ contentType: 'video/mp4', filename, id: 'none.mp4', size }],
      }),
    edit(text) {
      const timestamp = cli.nextTime();
      const dataMessage = { timestamp, message: text };
      cli.receive(ADA, { editMessage: { targetSentTimestamp: last, dataMessage } });
    },
    remove: () => cli.say(ADA, null, { remoteDelete: { timestamp: last } }),
    sendContent: (kind, connected) => sendSignalContent(cli, kind, connected),
    close: (place: Place) => cli.gone.add(place === 'direct' ? ADA.uuid : GROUP),
    [Symbol.asyncDispose]: () => cli.goDown(),
  };
}

function eventOf({ account }: SignalCli, message: string): string {
  const { uuid: sourceUuid, number: sourceNumber } = ADA;
  const dataMessage = { timestamp: 1, message };
  const envelope = { sourceUuid, sourceNumber, timestamp: 1, dataMessage };
  return `event:receive\ndata:${JSON.stringify({ envelope, account })}\n\n`;
}

function settings(cli: SignalCli, variation: Variation): Readonly<Record<string, string>> {
  const all = settingsOf(cli);
  if (variation === 'nobody allowed') return { ...all, SIGNAL_ALLOW_FROM: '' };
  return variation === 'wrong token' ? { ...all, SIGNAL_ACCOUNT: '+4915199999999' } : all;
}

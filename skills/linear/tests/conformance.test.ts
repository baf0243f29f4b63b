import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import type { FarEnd, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { ADA, channel, EVE, KEY, settingsOf } from './fixtures.ts';
import { INVALID, LinearServer, ME, refusal } from './linear-server.ts';

const WRONG = 'lin_api_wrong-key';

const LINK = 'read [this page](https://example.org/a)';

testChannel({
  name: 'linear',
  limit: 16_000,
  lengthOf: (text) => text.length,
  notation: NOTATIONS.markdown,
  tokenSetting: 'LINEAR_API_KEY',
  content: onlyContent(
    { links: { sees: [LINK] } },
    'a comment on Linear is Markdown, and its files are links',
  ),
  lacks: {
    addressed: 'a chat is an issue, and nobody has an issue of their own',
    forwarded: 'Linear has no forwards',
    acknowledged:
      'Linear has no acknowledgements; what is not stored is asked for again (feed.test.ts)',
    '2 GB': 'files of an issue are links in its text',
  },
  start: async () => farEndOf(await new LinearServer().comeUp()),
});

/** An issue that the assistant has had for long; what people say are comments on it. */
function farEndOf(linear: LinearServer): FarEnd {
  const issue = linear.open(ME, 'An old issue');
  return {
    create: (context, variation) => channelFrom(channel, settings(linear, variation), context),
    jidOf: (place) => (place === 'direct' ? 'linear:ENG-1' : null),
    sendText: (from, _place, text) => linear.comment(from === 'friend' ? ADA : EVE, issue, text),
    sendContent: () => linear.comment(ADA, issue, LINK),
    sent: () => linear.posted.map(({ body: text }) => ({ place: 'direct', text })),
    secrets: [KEY, WRONG],
    goDown: () => linear.goDown(),
    comeUp: () => linear.comeUp(),
    revoke() {
      linear.key = null;
    },
    limitNext(seconds, later) {
      const headers = seconds === null ? {} : { 'retry-after': String(seconds) };
      const words = 'Rate limit exceeded';
      linear.fail(refusal(seconds === null ? 400 : 429, 'RATELIMITED', words, headers), later);
    },
    loseNext: () => linear.fail('lost'),
    sendHalf() {
      linear.cutNext = true;
    },
    sendInvalid: () => linear.comment(ADA, issue, INVALID),
    edit(text) {
      const last = linear.comments.findLast(({ user }) => user === ADA);
      if (last !== undefined) linear.edit(last, text);
    },
    remove() {
      linear.comments = linear.comments.filter(({ user }) => user !== ADA);
    },
    close: () => void linear.issues.splice(0),
    [Symbol.asyncDispose]: () => linear.goDown(),
  };
}

function settings(linear: LinearServer, variation: Variation): Readonly<Record<string, string>> {
  const all = settingsOf(linear);
  if (variation === 'nobody allowed') return { ...all, LINEAR_ALLOW_FROM: '' };
  return variation === 'wrong token' ? { ...all, LINEAR_API_KEY: WRONG } : all;
}

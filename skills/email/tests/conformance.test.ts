import { channel } from '../../../src/channels/email.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import type { FarEnd } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { ADA, EVE, mail, sentParts, settingsOf } from './fixtures.ts';
import { MailServer, PASSWORD } from './mailServer.ts';

const WRONG = 'not-that-word';
const GROUP = 'andy+family@example.org';
const WHOLE = 'a mail has no limit: a text is one mail';
const NO_TIME = 'a mail server that asks for a pause names no time';

const FORWARD =
  '---------- Forwarded message ---------\nFrom: Bob <bob@example.org>\nDate: x\nSubject: y\nTo: z\n\n';

testChannel({
  name: 'email',
  limit: 100_000,
  notation: NOTATIONS.html,
  tokenSetting: 'EMAIL_PASSWORD',
  content: onlyContent(
    {
      links: { sees: ['read this page <https://example.org/a>'] },
      forward: {
        sees: [
          "[forwarded from Bob: somebody else's words, not the sender's]\n> Offer\n> for you",
          'What is this?',
        ],
      },
    },
    'a mail is text with files; other kinds are files in it',
  ),
  lacks: {
    split: WHOLE,
    'code blocks': WHOLE,
    marks: WHOLE,
    'parts once': WHOLE,
    'retry-after': NO_TIME,
    edited: 'a mail is not changed',
  },
  start: async () => farEndOf(await new MailServer().comeUp()),
});

function farEndOf(server: MailServer): FarEnd {
  let last = 0;
  const film =
    '(("TEXT" "PLAIN" NIL NIL NIL "8BIT" 10 1)("VIDEO" "MP4" ("NAME" "film.mp4") NIL NIL "8BIT" SIZE NIL ("ATTACHMENT" ("FILENAME" "film.mp4")) NIL NIL) "MIXED" ("BOUNDARY" "b") NIL NIL)';
  return {
    create: (context, variation) =>
      channelFrom(
        channel,
        {
          ...settingsOf(server),
          ...(variation === 'nobody allowed' ? { EMAIL_ALLOW_FROM: '' } : {}),
          ...(variation === 'wrong token' ? { EMAIL_PASSWORD: WRONG } : {}),
        },
        context,
      ),
    jidOf: (place) => (place === 'direct' ? `email:${ADA}` : 'email:+family'),
    sendText(from, place, text) {
      const to = place === 'group' ? { to: GROUP } : {};
      last = server.deliver(mail({ from: from === 'friend' ? ADA : EVE, text, ...to }));
    },
    forward: (text) => server.deliver(mail({ from: ADA, text: `${FORWARD}${text}` })),
    sendContent(kind) {
      const links = 'read this page <https://example.org/a>';
      const text = kind === 'links' ? links : `What is this?\n\n${FORWARD}Offer\nfor you`;
      server.deliver(mail({ from: ADA, text }));
    },
    sent: () =>
      server.posted.map(({ from, source }) => ({
        place: from === GROUP ? 'group' : 'direct',
        text: sentParts(source).html,
      })),
    secrets: [PASSWORD, WRONG],
    waiting: () => server.unseen,
    goDown: () => server.goDown(),
    comeUp: () => server.comeUp(),
    revoke: () => server.revoke(),
    limitNext() {
      server.nextAnswer = '451 4.7.1 greylisted';
    },
    loseNext() {
      server.nextAnswer = null;
    },
    sendHalf() {
      // The mail is whole in the mailbox; the line that tells of it is cut, and it is gone before the next.
      server.cutsFetch = true;
      const uid = server.deliver(mail({ text: 'half' }));
      const timer = setInterval(() => {
        if (server.cutsFetch) return;
        clearInterval(timer);
        server.expunge(uid);
      }, 0);
    },
    sendInvalid: () =>
      server.deliver(
        Buffer.concat([Buffer.from(mail({ text: '' })), Buffer.from([0xc3, 0x28, 0xff])]),
      ),
    sendFile: (name, size) =>
      server.deliver(mail({ text: name }), film.replace('SIZE', String(size)), size + 1_000),
    remove: () => server.expunge(last),
    close: (place) => server.refusedRecipients.add(place === 'direct' ? ADA : GROUP),
    [Symbol.asyncDispose]: () => server.goDown(),
  };
}

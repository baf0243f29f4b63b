import { channel } from '../../../src/channels/email.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import { type ContentKind, onlyContent } from '../../../src/testing/channel/content-kinds.ts';
import type { FarEnd } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { ADA, EVE, mail, sentParts, settingsOf } from './fixtures.ts';
import { MailServer, PASSWORD } from './mail-server.ts';

const WRONG = 'not-that-word';
const GROUP = 'andy+family@example.org';
const WHOLE = 'a mail has no limit: a text of any length is one mail';
const NO_TIME = 'a mail server that asks for a pause names no time';

const FORWARD =
  '---------- Forwarded message ---------\nFrom: Bob <bob@example.org>\nDate: x\nSubject: y\nTo: z\n\n';

const QUOTED = 'On Mon, 23 Nov 2026 at 09:00, Andy <andy@example.org> wrote:';

/** What a mail program sends as the text of each kind. */
const TEXTS: Partial<Record<ContentKind, string>> = {
  links: 'read this page <https://example.org/a>',
  forward: `What is this?\n\n${FORWARD}Offer\nfor you`,
  reply:
    'the second one, please\n\nOn Mon, 23 Nov 2026 at 09:00, Bob <bob@example.org> wrote:\n> 1. call Bob\n> 2. pay rent',
  'reply to us': `why?\n\n${QUOTED}\n> Tomorrow at nine.`,
  'partial quote': '> Shall we go by train?\nYes.\n> Who buys the tickets?\nI do.',
  'forwarded file': 'look at this',
  album: 'compare these',
  picture: 'our cat',
  event: 'Dinner?',
};

type MailedFile = { readonly type: string; readonly name: string | null };

/** The files that a mail program attaches for each kind. */
const FILES: Partial<Record<ContentKind, readonly MailedFile[]>> = {
  'forwarded file': [{ type: 'message/rfc822', name: null }],
  album: ['a.png', 'b.png', 'c.png'].map((name) => ({ type: 'image/png', name })),
  picture: [{ type: 'image/png', name: 'cat.png' }],
  video: [{ type: 'video/mp4', name: 'film.mp4' }],
  voice: [{ type: 'audio/ogg', name: 'note.ogg' }],
  document: [{ type: 'application/pdf', name: 'tax.pdf' }],
  contact: [{ type: 'text/vcard', name: 'bob.vcf' }],
  event: [{ type: 'text/calendar', name: 'invite.ics' }],
};
const FILE_SIZE = 2_000;

/** Returns a mail with files as it lies in the mailbox, and as the server describes it. */
function withFiles(text: string, files: readonly MailedFile[]): readonly [string, string] {
  const parts = files.map(({ type, name }) =>
    [
      '--b',
      `Content-Type: ${type}`,
      `Content-Disposition: attachment${name === null ? '' : `; filename="${name}"`}`,
      '',
      'x'.repeat(FILE_SIZE),
    ].join('\n'),
  );
  const body = ['--b', 'Content-Type: text/plain; charset=utf-8', '', text, ...parts, '--b--', ''];
  const source = mail({
    from: ADA,
    text: body.join('\n'),
    headers: ['Content-Type: multipart/mixed; boundary=b'],
  });
  const described = files.map(({ type, name }) => {
    const [kind = '', subtype = ''] = type.toUpperCase().split('/');
    const named = (key: string) => (name === null ? 'NIL' : `("${key}" "${name}")`);
    const lines = kind === 'TEXT' ? ' 1' : '';
    const mailed =
      type === 'message/rfc822'
        ? ' (NIL "offer" NIL NIL NIL NIL NIL NIL NIL NIL) ("TEXT" "PLAIN" NIL NIL NIL "8BIT" 10 1) 1'
        : lines;
    return `("${kind}" "${subtype}" ${named('NAME')} NIL NIL "8BIT" ${FILE_SIZE}${mailed} NIL ("ATTACHMENT" ${named('FILENAME')}) NIL NIL)`;
  });
  const plain = `("TEXT" "PLAIN" NIL NIL NIL "8BIT" ${text.length} 1)`;
  return [source, `(${plain}${described.join('')} "MIXED" ("BOUNDARY" "b") NIL NIL)`];
}

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
      reply: { sees: ['the second one, please'] },
      'reply to us': { sees: ['why?'] },
      'partial quote': {
        sees: ['> Shall we go by train?\nYes.\n> Who buys the tickets?\nI do.'],
      },
      'forwarded file': { sees: ['look at this\n[document, 2 kB, id ID]'] },
      album: {
        sees: [
          '[image "b.png", 2 kB, id ID]',
          '[image "c.png", 2 kB, id ID]',
          'compare these\n[image "a.png", 2 kB, id ID]',
        ],
      },
      picture: { sees: ['our cat\n[image "cat.png", 2 kB, id ID]'] },
      video: { sees: ['[video "film.mp4", 2 kB, id ID]'] },
      voice: { sees: ['[audio "note.ogg", 2 kB, id ID]'] },
      document: { sees: ['[document "tax.pdf", 2 kB, id ID]'] },
      contact: { sees: ['[document "bob.vcf", 2 kB, id ID]'] },
      event: { sees: ['Dinner?\n[document "invite.ics", 2 kB, id ID]'] },
    },
    'a mail has no such thing',
  ),
  lacks: {
    split: WHOLE,
    'code blocks': WHOLE,
    marks: WHOLE,
    'parts once': WHOLE,
    'retry-after': NO_TIME,
    edited: 'a mail cannot be changed',
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
    friendTyped: [ADA, ADA.toUpperCase(), `email:${ADA}`],
    jidOf: (place) => (place === 'direct' ? `email:${ADA}` : 'email:+family'),
    sendText(from, place, text) {
      const to = place === 'group' ? { to: GROUP } : {};
      last = server.deliver(mail({ from: from === 'friend' ? ADA : EVE, text, ...to }));
    },
    forward: (text) => server.deliver(mail({ from: ADA, text: `${FORWARD}${text}` })),
    sendContent(kind) {
      const files = FILES[kind];
      if (files === undefined) server.deliver(mail({ from: ADA, text: TEXTS[kind] ?? '' }));
      else server.deliver(...withFiles(TEXTS[kind] ?? '', files));
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

import { expect, test } from 'vitest';
import { HIDDEN_HTML, SEEN_HTML } from '../../../src/testing/html/hidden-html.ts';
import {
  automaticReason,
  checkSender,
  htmlOf,
  mail,
  ownWordsOf,
  readMail,
  SIGNER,
  textOfHtml,
} from './fixtures.ts';

const results = (...values: readonly string[]) =>
  values.map((value) => ({ key: 'authentication-results', value }));
const read = (source: string | Buffer) =>
  readMail(Buffer.from(source), { isCut: false, separateText: async () => '' });
const ADA = 'ada@example.com';

test.each([
  ['dmarc=pass', `${SIGNER}; dmarc=pass (p=reject) header.from=example.com`],
  ['dkim of the domain', `${SIGNER}; spf=none; dkim=pass header.d=example.com header.s=x`],
  ['dkim by header.i', `${SIGNER} 1; dkim=pass header.i=@example.com`],
  ['spf of the domain', `${SIGNER}; spf=pass smtp.mailfrom=ada@example.com`],
])('the server confirms a sender: %s', (_, value) => {
  expect(checkSender(results(value), SIGNER, ADA)).toEqual({ ok: true });
});

test.each([
  ['nothing', []],
  ['another server', ['mx.evil.example; dmarc=pass header.from=example.com']],
  ['a failure', [`${SIGNER}; dkim=pass header.d=example.com; dmarc=fail header.from=example.com`]],
  [
    'another domain',
    [`${SIGNER}; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=evil.example`],
  ],
  ['a domain that ends so', [`${SIGNER}; dkim=pass header.d=badexample.com`]],
  ['a whole country', [`${SIGNER}; dkim=pass header.d=com`]],
  ['dmarc of another', [`${SIGNER}; dmarc=pass header.from=evil.example`]],
  ['pass in a comment', [`${SIGNER}; dmarc=none (dmarc=pass; dmarc=pass header.from=example.com)`]],
  ['pass in quotes', [`${SIGNER}; spf=fail reason="x; dmarc=pass header.from=example.com"`]],
  [
    'words of the sender that end a comment',
    [
      `${SIGNER}; spf=pass (domain of "x) ; dmarc=pass header.from=example.com ; z=z ("@evil.example) smtp.mailfrom=evil.example`,
    ],
  ],
  ['two domains', [`${SIGNER}; spf=pass smtp.mailfrom=example.com smtp.mailfrom=a@evil.example`]],
  ['dmarc without a domain', [`${SIGNER}; dmarc=pass`]],
  ['softfail', [`${SIGNER}; spf=softfail smtp.mailfrom=example.com`]],
  [
    'forged below',
    [
      `${SIGNER}; spf=fail smtp.mailfrom=example.com`,
      `${SIGNER}; dmarc=pass header.from=example.com`,
    ],
  ],
])('the server does not confirm a sender: %s', (_, values) => {
  expect(checkSender(results(...values), SIGNER, ADA)).toMatchObject({ ok: false });
});

test.each([
  ['auto-submitted', 'auto-replied'],
  ['auto-submitted', 'auto-generated (vacation)'],
  ['precedence', 'bulk'],
  ['list-id', '<dev.example.org>'],
  ['list-unsubscribe', '<mailto:x@example.org>'],
  ['return-path', '<>'],
  ['x-autoreply', 'yes'],
  ['content-type', 'multipart/report; report-type=delivery-status'],
])('a program has written a mail with %s: %s', (key, value) => {
  expect(automaticReason([{ key, value }], ADA)).not.toBeNull();
});

test('a person’s mail is not a program’s, and a robot’s name is one', () => {
  const person = [
    { key: 'auto-submitted', value: 'no' },
    { key: 'precedence', value: 'first-class' },
  ];
  expect(automaticReason(person, ADA)).toBeNull();
  for (const robot of ['MAILER-DAEMON', 'postmaster', 'no-reply', 'noreply+x', 'dev-bounces']) {
    expect(automaticReason([], `${robot}@example.com`)).not.toBeNull();
  }
});

test.each([
  ['Gmail', 'On Mon, Nov 23, 2026 at 9:00 AM Andy <andy@example.org> wrote:\n> old'],
  [
    'Gmail, folded',
    'On Mon, Nov 23, 2026 at 9:00 AM Andy\n<andy@example.org> wrote:\n\n> old\n> older',
  ],
  ['Apple Mail, German', 'Am 23.11.2026 um 09:00 schrieb Andy <andy@example.org>:\n\n> alt'],
  ['Thunderbird, French', 'Le 23/11/2026 à 09:00, Andy a écrit :\n> vieux'],
  ['Spanish', 'El lun, 23 nov 2026 a las 9:00, Andy (<andy@example.org>) escribió:\n> viejo'],
  [
    'Italian',
    'Il giorno lun 23 nov 2026 alle ore 09:00 Andy <andy@example.org> ha scritto:\n> vecchio',
  ],
  [
    'Portuguese',
    'Em seg., 23 de nov. de 2026 às 09:00, Andy <andy@example.org> escreveu:\n> velho',
  ],
  ['Dutch', 'Op ma 23 nov 2026 om 09:00 schreef Andy <andy@example.org>:\n> oud'],
  ['Swedish', 'Den mån 23 nov. 2026 kl 09:00 skrev Andy <andy@example.org>:\n> gammalt'],
  ['Polish', 'W dniu 23.11.2026 o 09:00, Andy pisze:\n> stare'],
  ['Russian', 'пн, 23 нояб. 2026 г. в 09:00, Andy <andy@example.org> пишет:\n> старое'],
  ['Chinese', 'Andy <andy@example.org> 于2026年11月23日周一 写道：\n> 旧'],
  ['Japanese', '2026年11月23日(月) 9:00 Andy <andy@example.org>:\n> 古い'],
  ['Outlook', '-----Original Message-----\nFrom: Andy\nSent: Monday\nTo: Ada\nSubject: x\n\nold'],
  [
    'Outlook, with a rule',
    '________________________________\nFrom: Andy <andy@example.org>\nSent: Monday\nTo: Ada\nSubject: x\n\nold',
  ],
  ['Outlook, German', 'Von: Andy <andy@example.org>\nGesendet: Montag\nAn: Ada\nBetreff: x\n\nalt'],
  ['quotes alone', '> old\n> older'],
  ['a signature', '-- \nAda Lovelace\nEngines'],
])('what is answered is left out: %s', (_, tail) => {
  expect(ownWordsOf(`Yes, at noon.\n\nAda\n\n${tail}\n`)).toBe('Yes, at noon.\n\nAda');
});

test('answers between quotes, forwarded mail, and a mail of quotes alone stay whole', () => {
  const between = 'On Monday Andy wrote:\n> at noon?\n\nYes.\n\n> where?\n\nHere.';
  expect(ownWordsOf(between)).toBe(between);
  const forwarded =
    'What is this?\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: x\nSubject: y\nTo: z\n\nOffer';
  expect(ownWordsOf(forwarded)).toBe(forwarded);
  expect(ownWordsOf('> only this')).toBe('> only this');
  expect(ownWordsOf('On this he wrote:\nnothing')).toContain('nothing');
});

test('text in other charsets and encodings is read; bytes that are none harm nothing', async () => {
  const latin = mail({
    headers: [
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
    ],
    text: 'Gr=FC=DFe',
  });
  expect(await read(latin)).toMatchObject({ text: 'Grüße', subject: 'Grüße' });
  const japanese = mail({ headers: ['Content-Type: text/plain; charset=shift_jis'], text: '' });
  const bytes = Buffer.concat([Buffer.from(japanese), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
  expect((await read(bytes)).text).toBe('日本');
  const unknown = mail({
    headers: ['Content-Type: text/plain; charset=klingon-8'],
    text: 'nuqneH',
  });
  expect((await read(unknown)).text).toBe('nuqneH');
  expect((await read(Buffer.from([0xff, 0xfe, 0x00]))).sender).toBeNull();
});

test('HTML becomes text: without scripts, styles, comments and the mail that is answered', () => {
  const html =
    '<html><head><style>p{}</style></head><body><p>Hello <b>all</b> &amp; <a href="https://example.org">this</a></p><!-- no --><script>alert(1)</script><div class="gmail_quote">old</div></body></html>';
  expect(textOfHtml(html).text).toBe('Hello **all** & [this](https://example.org)');
  expect(textOfHtml(`${'<div>'.repeat(30_000)}deep`).text).toContain('deep');
});

test('parts within parts without end, and headers without end, are said', async () => {
  const deep = Array.from(
    { length: 300 },
    (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
  ).join('');
  const bomb = mail({
    headers: ['Content-Type: multipart/mixed; boundary=b0', 'Subject: hi'],
    text: deep,
  });
  expect(await read(bomb)).toMatchObject({
    sender: ADA,
    subject: 'hi',
    problem: expect.stringContaining('too many parts'),
  });
  const wide = mail({
    headers: Array.from({ length: 20_000 }, (_, at) => `X-${at}: ${'x'.repeat(20)}`),
  });
  expect((await read(wide)).sender).toBe(ADA);
});

test('a mail with two senders, or two lines From, has none', async () => {
  expect((await read(mail({ from: 'ada@example.com, eve@example.net' }))).sender).toBeNull();
  expect((await read(mail({ headers: ['From: eve@example.net'] }))).sender).toBeNull();
  expect((await read(mail({ from: '"eve@example.net" <Ada@Example.com>' }))).sender).toBe(ADA);
});

test.each([
  '<ada@example.com> <eve@example.com>',
  'ada@example.com eve@example.com',
  'eve@example.com <ada@example.com',
  'eve+<ada@example.com>@example.com',
  '"ada@example.com"@example.com',
  '"eve <eve@example.com>" ada@example.com',
])('a sender that programs could read differently is none: %s', async (from) => {
  expect((await read(mail({ from }))).sender).toBeNull();
});

test.each([
  'ada@example.com',
  'ada@example.com <ada@example.com>',
  'Ada Lovelace <ada@example.com>',
  '"Lovelace, \\"Ada\\"" <ada@example.com>',
  '=?utf-8?Q?=3Ceve=40example.com=3E?= <ada@example.com>',
  'ada@example.com (Ada)',
])('a sender is read: %s', async (from) => {
  expect((await read(mail({ from }))).sender).toBe(ADA);
});

// Each took from seconds to minutes; only such a hang reaches the limit of a test.
test.each([
  ['lines', 'x<br>'.repeat(40_000)],
  ['tags within each other', '<b>xxxx yyyy '.repeat(3_900)],
  ['ends of other tags', '<b></i>x'.repeat(1_900)],
  ['comments without an end', '<!--'.repeat(50_000)],
  ['scripts without an end', '<script>'.repeat(25_000)],
])('HTML that is meant to take long does not: %s', (_, html) => {
  expect(textOfHtml(`start ${html}`).text).toContain('start');
});

test('a line of blanks alone does not take long', () => {
  expect(ownWordsOf(`a\n${' '.repeat(99_000)}x`)).toMatch(/^a/);
});

test.each([
  ['display', '<div style="display: none">SECRET</div>'],
  [
    'display, written to be overlooked',
    '<div title=">" style="dis&#112;lay:n\\6f ne/**/">SECRET</div>',
  ],
  ['visibility', '<p style="VISIBILITY:hidden!important"><b>SECRET</b></p>'],
  ['letters of no size', '<td style="font-size:0px"><i style="font-size:50%">SECRET</i></td>'],
  ['letters of one pixel', '<span style="font:1px/1px Arial">SECRET</span>'],
  ['no opacity', '<div style="opacity:0.0">SECRET</div>'],
  ['outside of the screen', '<div style="position:absolute;left:-9999px">SECRET</div>'],
  ['no part of opaque', '<div style="opacity:00.00">SECRET</div>'],
  ['half a point', '<div style="font: bold .5px serif">SECRET</div>'],
  ['a comment before it', '<style>/* a */ /* b */ .x{display:none}</style><p class=x>SECRET'],
  ['no height', '<div style="max-height:0;overflow:hidden">SECRET</div>'],
  ['hidden', '<div hidden>SECRET</div>'],
  [
    'a style sheet',
    '<style>p{color:red} .x , #y{display:none}</style><div class="a x">SECRET</div>',
  ],
  ['white on white', '<p style="color:#FFF"><b>SECRET</b></p>'],
  ['nearly its ground', '<div style="background:#202020;color:rgb(33, 32, 32)">SECRET</div>'],
  ['a font', '<p bgcolor="#ffffff"><font color="white">SECRET</font></p>'],
  ['no colour', '<span style="color:transparent">SECRET</span>'],
  [
    'its own ground, beside a style sheet',
    '<style>td{background:#000}</style><p style="color:#fff;background-color:#fff">SECRET</p>',
  ],
  ['an element that ends another', '<div style="display:none"><b>SECRET</div>'],
])('text that people do not see is not text of a mail: %s', (_, hidden) => {
  const { text, hasHidden } = textOfHtml(`<p>Hello</p>${hidden}<p>Ada</p>`);
  expect(text.replace(/\s+/g, ' ')).toBe('Hello Ada');
  expect(hasHidden).toBe(true);
});

test.each(Object.entries(HIDDEN_HTML))(
  'what hides text in a web page hides it in a mail: %s',
  (way, hidden) => {
    const { text, hasHidden } = textOfHtml(`<p>Hello</p>${hidden}<p>Ada</p>`);
    expect(text.replace(/\s+/g, ' ')).toBe('Hello Ada');
    expect(hasHidden).toBe(!way.startsWith('comment'));
  },
);

test.each(Object.entries(SEEN_HTML))(
  'what is seen in a web page is seen in a mail: %s',
  (_, seen) => {
    expect(textOfHtml(`<p>Hello</p>${seen}`).text).toContain('SEEN');
  },
);

test.each([
  '<td style="font-size:0px"><div style="font-size:13px">seen</div></td>',
  '<div style="visibility:hidden"><b style="visibility:visible">seen</b></div>',
  '<style>@media (max-width:600px){.x{display:none}}</style><p class="x">seen</p>',
  '<style>.x{display:none}</style><p class="x" style="display:block">seen</p>',
  '<p style="display:none"><p>seen</p>',
  '<ul><li hidden><li>seen</ul>',
  '<div style="background:#000"><p style="color:#fff">seen</p></div>',
  '<div style="color:#fff"><p style="color:#333">seen</p></div>',
  '<table bgcolor="black"><tr><td style="color:white;background-color:transparent">seen</table>',
  '<div style="background:url(a.png)"><p style="color:#fff">seen</p></div>',
  '<style>.dark{background:#000}</style><div class="dark"><p style="color:#fff">seen</p></div>',
  '<style>a{color:#000}</style><div style="color:#fff"><a>seen</a></div>',
  '<p style="color:rgba(255,255,255,.5)">seen</p>',

  '<p style="font-size:.8em;opacity:0.9;left:-10px">seen</p>',
])('what people see is kept: %s', (html) => {
  expect(textOfHtml(`<p>Hello</p>${html}`).text).toContain('seen');
});

const mixed = (html: string) =>
  `From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nHello\r\n--x\r\nContent-Type: text/html\r\n\r\n${html}\r\n--x--\r\n`;

test('HTML beside plain text is read as other HTML is: what it hides is left out, which is said', async () => {
  const found = await read(mixed('<div style="display:none">SECRET</div><b>Ada</b>'));
  expect(found.text.split(/\s+/)).toEqual(['Hello', '**Ada**']);
  expect(found.problem).toContain('hides');
});

test('HTML with very many lines keeps them', () => {
  expect(
    textOfHtml(`<!-- no --><script>no</script>${'<p>one &amp; two</p>'.repeat(3_000)}`).text,
  ).toMatch(/^one & two\s+one & two/);
});

test('HTML in an answer is shown as it is written, and leads only to the web', () => {
  expect(htmlOf('<img src=x> [a](javascript:alert(1)) ![pic](https://example.org/p.png)')).toBe(
    '<p>&lt;img src=x&gt; a <a href="https://example.org/p.png">pic</a></p>',
  );
});

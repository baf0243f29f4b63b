import { createHash } from 'node:crypto';
import { type Address, addressParser, type Email } from 'postal-mime';
import type { Header } from './authentication.ts';
import type { HtmlText } from './html-text.ts';
import { MailParser } from './mail-parser.ts';
import { ownWordsOf } from './own-words.ts';

const LONGEST_TEXT = 100_000;
const DEEPEST_PARTS = 100;
const LARGEST_HEADERS = 256_000;
const MOST_REFERENCES = 50;
const ADDRESS = /^[^\s@<>()",:;\\]+@[^\s@<>()",:;\\]+$/;

const TOO_LONG = 'the rest of the mail is left out, as it is too long';
const HIDDEN = 'text that the mail hides from people is left out';

/** A mail, as far as it could be read. */
export type ReadMail = {
  /** The same for the same mail, whatever its number in the mailbox. */
  readonly id: string;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly headers: readonly Header[];
  /** In small letters; null where the mail names none, or more than one. */
  readonly sender: string | null;
  readonly senderName: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Addresses to which the server says that it delivered the mail. */
  readonly deliveredTo: readonly string[];
  readonly subject: string;
  /** The sender's own words. */
  readonly text: string;
  /** Why the text is not all that was written; null where it is. */
  readonly problem: string | null;
  readonly sentAt: number | null;
};

/**
 * Reads a mail, or the beginning of a large one.
 *
 * @param separateText the text where it is not within the beginning; null where it is
 */
export async function readMail(
  source: Buffer,
  {
    isCut,
    separateText,
  }: { readonly isCut: boolean; readonly separateText: () => Promise<string> },
): Promise<ReadMail> {
  const { email, problem, body } = await parsed(source);
  const header = (name: string) => email.headers.filter(({ key }) => key === name);
  const from = mailboxes(header('from').map(({ value }) => value));
  const isOne = header('from').length === 1 && from.length === 1;
  const isPlain = plainAddress(header('from')[0]?.value ?? '') === from[0]?.address;
  const sender = isOne && isPlain ? from[0] : undefined;
  const messageId = idsIn(email.messageId ?? '')[0] ?? null;
  const whole = body.text || (isCut && problem === null ? await separateText() : '');
  const words = ownWordsOf(whole.slice(0, LONGEST_TEXT));
  const isLong =
    whole.length > LONGEST_TEXT || (isCut && body.text !== '' && whole.length > LONGEST_TEXT / 2);
  return {
    id: createHash('sha256')
      .update(messageId ?? source)
      .digest('base64url')
      .slice(0, 22),
    messageId,
    inReplyTo: idsIn(email.inReplyTo ?? '')[0] ?? null,
    references: idsIn(email.references ?? '').slice(-MOST_REFERENCES),
    headers: email.headers,
    sender: sender?.address.toLowerCase() || null,
    senderName: sender?.name || null,
    to: addressesOf(email.to),
    cc: addressesOf(email.cc),
    deliveredTo: [...header('delivered-to'), ...header('x-original-to')].map(({ value }) =>
      value.trim().replace(/^<|>$/g, '').toLowerCase(),
    ),
    subject: (email.subject ?? '').replace(/\s+/g, ' ').trim().slice(0, 200),
    text: words,
    problem: problem ?? (isLong ? TOO_LONG : body.hasHidden ? HIDDEN : null),
    sentAt:
      email.date === undefined || Number.isNaN(Date.parse(email.date))
        ? null
        : Date.parse(email.date),
  };
}

type Parsed = { readonly email: Email; readonly problem: string | null; readonly body: HtmlText };

/** Reads header and body; of a mail that is nested without end, the header. */
async function parsed(source: Buffer): Promise<Parsed> {
  const limits = {
    forceRfc822Attachments: true,
    maxNestingDepth: DEEPEST_PARTS,
    maxHeadersSize: LARGEST_HEADERS,
  };
  try {
    const parser = new MailParser(limits);
    const email = await parser.parse(source);
    return { email, problem: null, body: parser.text() };
  } catch {
    const end = /\r?\n\r?\n/.exec(source.toString('latin1'))?.index ?? source.length;
    const headers = source
      .subarray(0, Math.min(end, LARGEST_HEADERS))
      .toString('latin1')
      .replace(/^content-type:[^\n]*(\n[ \t][^\n]*)*\n?/gim, '');
    const problem = 'the mail could not be read: it has too many parts within parts';
    try {
      const email = await new MailParser(limits).parse(`${headers}\r\n\r\n`);
      return { email, problem, body: NO_TEXT };
    } catch {
      return { email: { headers: [], headerLines: [], attachments: [] }, problem, body: NO_TEXT };
    }
  }
}

const NO_TEXT: HtmlText = { text: '', hasHidden: false };

/** Returns an address that every program reads the same: the server checked the one that it has read. Null otherwise. */
function plainAddress(value: string): string | null {
  const bare = value
    .replace(/"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/g, (part) =>
      part.startsWith('"') ? 'name ' : ' ',
    )
    .trim();
  const [, address = bare] = /^[^<>"\\]*<([^<>]*)>$/.exec(bare) ?? [];
  return ADDRESS.test(address) ? address : null;
}

function mailboxes(values: readonly string[]): readonly { address: string; name: string }[] {
  return values.flatMap((value) =>
    addressParser(value).map((one) => ({ address: one.address ?? '', name: one.name })),
  );
}

function addressesOf(list: readonly Address[] | undefined): readonly string[] {
  return (list ?? [])
    .flatMap((one) =>
      one.group === undefined ? [one.address] : one.group.map(({ address }) => address),
    )
    .map((address) => address.toLowerCase())
    .slice(0, 100);
}

function idsIn(text: string): readonly string[] {
  return text.match(/<[^<>\s]{1,250}>/g) ?? [];
}

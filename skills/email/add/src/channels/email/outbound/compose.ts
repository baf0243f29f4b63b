import { createHash } from 'node:crypto';
import MailComposer from 'nodemailer/lib/mail-composer';
import { shortened } from '../../../lib/graphemes.ts';
import type { OutboundMessage } from '../../channel.ts';
import { plainParts } from '../../kit/plain-text.ts';
import { domainOf, type MailChat, ownAddressFor } from '../addresses.ts';
import type { KnownMail } from '../records.ts';
import { htmlOf } from './html.ts';

const LONGEST_SUBJECT = 70;

/** A mail, ready to be given to the server. */
export type Mail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: Buffer;
};

export type Composing = {
  readonly message: OutboundMessage;
  readonly chat: MailChat;
  readonly to: readonly string[];
  /** The account's address. */
  readonly own: string;
  readonly assistantName: string;
  readonly messageId: string;
  /** The mail that this one answers; null for one of the assistant's own accord. */
  readonly answered: KnownMail | null;
};

/** Returns the id of a mail for the world: the same each time that the host sends the message. */
export function messageIdFor(id: string, own: string): string {
  const digest = createHash('sha256').update(`${own} ${id}`).digest('hex').slice(0, 32);
  return `<${digest}@${domainOf(own)}>`;
}

/** Writes the mail: text and HTML, the files, and the headers that put it into its thread and stop auto-replies. */
export async function compose(parts: Composing): Promise<Mail> {
  const { message, chat, to, own, assistantName, messageId, answered } = parts;
  const from = ownAddressFor(own, chat);
  const answers = answered?.messageId ?? null;
  const references =
    answers === null
      ? []
      : [...(answered?.refs ?? '').split(' '), answers].filter((id) => id !== '');
  const composer = new MailComposer({
    from: { name: assistantName, address: from },
    to: [...to],
    subject: subjectFor(answered, message.text),
    messageId,
    ...(answers === null ? {} : { inReplyTo: answers, references: references.slice(-20) }),
    // An answer says so; a message of the assistant's own accord was written by a program as well.
    headers: {
      'Auto-Submitted': answered === null ? 'auto-generated' : 'auto-replied',
      'X-Auto-Response-Suppress': 'All',
    },
    text: plainParts(message.text, Number.POSITIVE_INFINITY)[0]?.text ?? message.text,
    html: htmlOf(message.text),
    attachments: (message.attachments ?? []).map(({ path, name }) => ({ path, filename: name })),
    disableUrlAccess: true,
  });
  return { from, to, content: await composer.compile().build() };
}

function subjectFor(answered: KnownMail | null, text: string): string {
  if (answered !== null) {
    const subject = answered.subject === '' ? 'your mail' : answered.subject;
    return /^(re|aw|sv|antw|odp|ynt|vs)\s*:/i.test(subject) ? subject : `Re: ${subject}`;
  }
  const line =
    text
      .split('\n')
      .map((one) =>
        one
          .replace(/^[#>*\-\s]+/, '')
          .replace(/[*_`]/g, '')
          .trim(),
      )
      .find((one) => one !== '') ?? 'A message';
  return shortened(line, LONGEST_SUBJECT).toWellFormed();
}

import type { ChannelClock, OutboundMessage } from '../../channel.ts';
import { PartDelivery } from '../../kit/part-delivery.ts';
import { mayWrite } from '../access.ts';
import { chatIn, type MailChat } from '../addresses.ts';
import { EmailError, explainSmtp } from '../failure.ts';
import { imapClient } from '../imap.ts';
import type { KnownMail, Records } from '../records.ts';
import type { EmailAccount } from '../settings.ts';
import { compose, messageIdFor } from './compose.ts';
import { NotPosted, post } from './post.ts';

export type DeliveryOptions = {
  readonly account: EmailAccount;
  readonly records: Records;
  readonly clock: ChannelClock;
  readonly assistantName: string;
};

/** Sends messages as mails, each once as far as SMTP lets one tell. */
export function openDelivery(options: DeliveryOptions): PartDelivery<OutboundMessage> {
  const { account, clock } = options;
  return new PartDelivery<OutboundMessage>({
    // Progress is for a chat that one looks at; nobody wants a mail for each step.
    partsOf: (message) => (message.isProgress || isEmpty(message) ? [] : [message]),
    send: (message, _part, signal) => sendMail(options, message, signal),
    pauseMs: () => null,
    pause: clock.pause,
    explain: (error) => {
      if (error instanceof NotPosted) return explainSmtp(error, account.smtp);
      return error instanceof Error ? error : new Error(String(error));
    },
  });
}

async function sendMail(
  { account, records, assistantName }: DeliveryOptions,
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<void> {
  const { id, jid } = message;
  const chat = chatIn(jid);
  const to = chat === null ? [] : recipientsOf(account, records, jid, chat);
  if (chat === null || to.length === 0) {
    throw new EmailError(
      'NOBODY',
      'There is nobody in this chat who may be written to: EMAIL_ALLOW_FROM names none of them.',
    );
  }
  const answered = answeredBy(records, message);
  const messageId = messageIdFor(id, account.address);
  const thread = answered?.thread ?? messageId;
  const state = records.begin({ id, messageId, jid, thread });
  if (state === 'done') return;
  if (state === 'begun' && (await wasSent(account, messageId))) return records.done(id);
  const mail = await compose({
    message,
    chat,
    to,
    own: account.address,
    assistantName,
    messageId,
    answered,
  });
  try {
    await post(account, mail, signal);
  } catch (error) {
    if (error instanceof NotPosted && !error.mayBeDone) records.withdraw(id);
    throw error;
  }
  records.done(id);
}

/** A person who was taken off the list gets no more mail. */
function recipientsOf(
  account: EmailAccount,
  records: Records,
  jid: string,
  chat: MailChat,
): readonly string[] {
  const all = chat.kind === 'person' ? [chat.address] : records.members(jid);
  return all.filter((address) => mayWrite(account.allowFrom, address));
}

function answeredBy(records: Records, message: OutboundMessage): KnownMail | null {
  const { jid, replyTo, answersTo = [], thread } = message;
  const ids = [...(replyTo === undefined ? [] : [replyTo.id]), ...answersTo.toReversed()];
  for (const id of ids) {
    const mail = records.mail(jid, id);
    if (mail !== null) return mail;
  }
  return thread === undefined ? null : records.lastMail(jid, thread);
}

/** Looks for a mail among those sent, on a line of its own, where the server keeps them by itself. */
async function wasSent(account: EmailAccount, messageId: string): Promise<boolean> {
  const client = imapClient(account);
  try {
    await client.connect();
    const folder = (await client.list()).find(({ specialUse }) => specialUse === '\\Sent');
    if (folder === undefined) return false;
    await client.mailboxOpen(folder.path, { readOnly: true });
    const found = await client.search({ header: { 'message-id': messageId } }, { uid: true });
    return Array.isArray(found) && found.length > 0;
  } catch {
    return false; // Sent again: both have the same id, and many a mailbox shows them as one.
  } finally {
    client.close();
  }
}

function isEmpty({ text, attachments = [] }: OutboundMessage): boolean {
  return text.trim() === '' && attachments.length === 0;
}

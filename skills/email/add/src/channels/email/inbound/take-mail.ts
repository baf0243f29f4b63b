import type { ImapFlow } from 'imapflow';
import type { ChannelClock, ChannelEvents, ChannelLog, InboundMessage } from '../../channel.ts';
import { isNamed, mayWrite } from '../access.ts';
import { jidOf, type MailChat, tagOf } from '../addresses.ts';
import type { FarMail } from '../mailbox.ts';
import type { KnownMail, Records } from '../records.ts';
import type { EmailAccount } from '../settings.ts';
import { checkSender } from './authentication.ts';
import { automaticReason } from './automatic.ts';
import { MOST_FILES, partsOf } from './files.ts';
import { forwardIn } from './own-words.ts';
import { type ReadMail, readMail } from './read-mail.ts';

const HOUR_MS = 3_600_000;
/** Two programs that answer each other stop here; people do not write so much in an hour. */
const MOST_ANSWERS = 20;
/** The same for programs that begin a thread with each mail. */
const MOST_IN_CHAT = 60;
const LONGEST_TEXT_PART = 200_000;

export type TakeOptions = {
  readonly account: EmailAccount;
  readonly records: Records;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
};

/** Hands a mail over to the host. Resolves with true when it is stored, with false when it was dropped, said why. */
export async function takeMail(
  { account, records, events, log, clock }: TakeOptions,
  far: FarMail,
  client: ImapFlow,
): Promise<boolean> {
  // Anybody can write a body that takes long to read: it is read of those alone who may write.
  const head = await readMail(headOf(far.source), {
    isCut: false,
    separateText: async () => '',
  });
  const { sender } = head;
  const drop = (reason: string): false => {
    log.info('a mail was dropped', { from: sender ?? 'nobody', reason });
    return false;
  };
  if (sender === null) return drop('it does not say plainly who wrote it, or names several');
  if (tagOf(account.address, sender) !== null) return drop('it is from this account itself');
  const automatic = automaticReason(head.headers, sender);
  if (automatic !== null) return drop(`a program wrote it: ${automatic}`);
  const chat = chatFor(account.address, head, sender);
  if (!mayWrite(account.allowFrom, sender)) {
    if (chat.kind === 'person') await events.onStranger?.(sender);
    return drop('its sender is not in EMAIL_ALLOW_FROM');
  }
  if (account.checksSenders) {
    const check = checkSender(head.headers, account.authservId ?? '', sender);
    if (!check.ok) {
      const advice = 'the mail server did not confirm its sender';
      log.warn('a mail was dropped', { from: sender, reason: advice, results: check.reason });
      return false;
    }
  }
  const { files, textPart } = partsOf(far.structure);
  const mail = await readMail(far.source, {
    isCut: far.size > far.source.length,
    separateText: () => textOf(client, far.uid, textPart),
  });
  const jid = jidOf(chat);
  const known = knownMail(records, mail, jid);
  if (chat.kind === 'group') noteMembers({ account, records }, jid, mail, sender);
  const hourAgo = clock.now() - HOUR_MS;
  const isLoop =
    records.sentSince(jid, known.thread, hourAgo) >= MOST_ANSWERS ||
    records.sentSince(jid, null, hourAgo) >= MOST_IN_CHAT;
  if (isLoop) {
    log.warn('a mail is not answered: too many answers went out within an hour', {
      from: sender,
    });
  }
  const isFirst =
    records.lastMail(jid, known.thread) === null || records.mail(jid, mail.id)?.refs === '';
  const base: Omit<InboundMessage, 'text' | 'mentionsAssistant'> = {
    id: mail.id,
    jid,
    chatName: chat.kind === 'group' ? chat.tag : (mail.senderName ?? sender),
    isDirect: chat.kind === 'person',
    sender,
    senderName: mail.senderName,
    isOwner: false,
    sentAt: mail.sentAt ?? far.arrivedAt,
    thread: known.thread,
  };
  const [first, ...others] = files.slice(0, MOST_FILES);
  const note =
    files.length > MOST_FILES ? `${files.length - MOST_FILES} more files are left out` : null;
  const messages: InboundMessage[] = others.map((file, at) => ({
    ...base,
    id: `${mail.id}-${at + 2}`,
    text: '',
    mentionsAssistant: false,
    isContext: true,
    attachments: [file.attachment],
  }));
  const forward = forwardIn(mail.text);
  // A forward without a comment is the message; with one, the comment asks, and the forward comes before it.
  const isBare = forward !== null && forward.comment === '';
  const own = forward === null ? mail.text : isBare ? forward.words : forward.comment;
  const text = textFor(
    { ...mail, text: own },
    {
      isFirst,
      notes: [mail.problem, note],
      hasFile: first !== undefined,
    },
  );
  messages.push({
    ...base,
    text,
    ...(text === own ? {} : { ownWords: own }),
    ...(isBare ? { forwarded: { from: forward.from } } : {}),
    mentionsAssistant: isAddressed(account.address, mail),
    ...(isLoop ? { isContext: true } : {}),
    ...(first === undefined ? {} : { attachments: [first.attachment] }),
  });
  [...others, ...(first === undefined ? [] : [first])].forEach(({ part, attachment }, at) => {
    const { uid, uidValidity } = far;
    const place = {
      uid,
      uidValidity,
      part,
      size: attachment.sizeBytes ?? 0,
      name: attachment.name,
    };
    records.noteFile(jid, messages[at]?.id ?? mail.id, place);
  });
  records.noteMail(known);
  if (forward !== null && !isBare) {
    const { from, words } = forward;
    messages.unshift({
      ...base,
      id: `${mail.id}-forward`,
      text: words,
      forwarded: { from },
      mentionsAssistant: false,
      isContext: true,
    });
  }
  for (const message of messages) await events.onMessage(message);
  return true;
}

function headOf(source: Buffer): Buffer {
  const end = source.indexOf('\r\n\r\n');
  return end === -1 ? source : source.subarray(0, end + 4);
}

/** A mail to a plus-address is said in its group; any other in the chat with its sender. */
function chatFor(own: string, mail: ReadMail, sender: string): MailChat {
  for (const address of [...mail.to, ...mail.cc, ...mail.deliveredTo]) {
    const tag = tagOf(own, address);
    if (tag !== null && tag !== '') return { kind: 'group', tag };
  }
  return { kind: 'person', address: sender };
}

function knownMail(records: Records, mail: ReadMail, jid: string): KnownMail {
  const { id, messageId, inReplyTo, references, subject } = mail;
  const earlier = inReplyTo === null ? null : records.threadOf(inReplyTo);
  const thread = earlier ?? references[0] ?? inReplyTo ?? messageId ?? id;
  const refs = references.length > 0 ? references : inReplyTo === null ? [] : [inReplyTo];
  return { jid, id, messageId, refs: refs.join(' '), subject, thread };
}

/** In a group are those who wrote to it, and those on the list who were written to with it. */
function noteMembers(
  { account, records }: Pick<TakeOptions, 'account' | 'records'>,
  jid: string,
  mail: ReadMail,
  sender: string,
): void {
  records.addMember(jid, sender);
  for (const address of [...mail.to, ...mail.cc]) {
    if (isNamed(account.allowFrom, address)) records.addMember(jid, address);
  }
}

function isAddressed(own: string, { to, cc }: ReadMail): boolean {
  const isOwn = (address: string) => tagOf(own, address) !== null;
  return to.some(isOwn) || !cc.some(isOwn);
}

/** The subject is said once, by the first mail of a thread. */
function textFor(
  { subject, text }: ReadMail,
  more: {
    readonly isFirst: boolean;
    readonly notes: readonly (string | null)[];
    readonly hasFile: boolean;
  },
): string {
  const isSaid = subject === '' || text.startsWith(subject) || !more.isFirst;
  const head = isSaid ? [] : [`Subject: ${subject}`];
  const notes = more.notes.flatMap((note) => (note === null ? [] : [`[${note}]`]));
  const all = [...head, ...(text === '' ? [] : [text]), ...notes].join('\n\n');
  return all === '' && !more.hasFile ? '[an empty mail]' : all;
}

/** Fetches the text of a mail that begins with its files. */
async function textOf(client: ImapFlow, uid: number, part: string | null): Promise<string> {
  if (part === null) return '';
  const found = await client.download(String(uid), part, {
    uid: true,
    maxBytes: LONGEST_TEXT_PART,
  });
  const chunks: Buffer[] = [];
  for await (const chunk of found.content ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

import type { Attachment, InboundMessage } from '../channel.ts';
import {
  answerNote,
  contactNote,
  correctedNote,
  deletedNote,
  happenedNote,
  pollNote,
  stickerNote,
  unknownNote,
  withheldNote,
} from '../kit/notes.ts';
import { type DataMessage, type FarAttachment, type Mention, unknownPartOf } from './envelope.ts';
import { messageId } from './jid.ts';
import { idOf, isMe, isOwner, type Me, type Person, type Spoken } from './people.ts';
import type { FileReference } from './records.ts';
import type { SignalSettings } from './settings.ts';

/** A message for the host, with the reference to its file. */
export type Readable = { readonly message: InboundMessage; readonly file: FileReference | null };

export type Reading = {
  readonly me: Me;
  readonly settings: Pick<SignalSettings, 'owner'>;
  readonly assistantName: string;
  /** The name under which a person was heard last. */
  readonly nameOf: (person: Person) => string | null;
};

/**
 * Reads what a person said. A message has one file for the host: of several, the others come before it as messages of
 * their own, to be known about. None where nothing was said, as in a change of the group.
 */
export function readMessage(spoken: Spoken, reading: Reading): readonly Readable[] {
  const { data } = spoken;
  const base = baseOf(spoken, reading);
  if (base === null) return [];
  if (data.remoteDelete != null) return [context(base, [deletedNote()])];
  const words = wordsIn(data.message ?? '', data.mentions ?? [], reading);
  if (spoken.corrects !== null) {
    return words === '' ? [] : [context(base, [correctedNote(words)])];
  }
  const own = notesOf(data);
  const [first, ...others] = data.viewOnce === true ? [] : (data.attachments ?? []);
  if (words === '' && own.length === 0 && first === undefined) return [];
  const answer = answerOf(data, reading);
  const notes = [...own, ...(answer === null ? [] : [answer])];
  const whole: InboundMessage = {
    ...base,
    text: words,
    ...(notes.length === 0 ? {} : { notes }),
    mentionsAssistant: callsAssistant(data, reading.me),
  };
  const extras = others.map((attachment, at) => {
    const message = { ...context(base).message, id: `${base.id}/${at + 2}` };
    return withFile(message, attachment);
  });
  return [...extras, first === undefined ? { message: whole, file: null } : withFile(whole, first)];
}

function baseOf(
  { jid, chatName, isDirect, author, authorName, data }: Spoken,
  { settings }: Reading,
): Omit<InboundMessage, 'text' | 'mentionsAssistant'> | null {
  const sender = idOf(author);
  if (sender === null) return null;
  return {
    id: messageId(data.timestamp, sender),
    jid,
    chatName,
    isDirect,
    sender,
    senderName: authorName ?? author.number ?? null,
    isOwner: isOwner(settings, author),
    sentAt: data.timestamp,
  };
}

function context(
  base: Omit<InboundMessage, 'text' | 'mentionsAssistant'>,
  notes: readonly string[] = [],
): Readable {
  const silent = { text: '', mentionsAssistant: false, isContext: true };
  const message = { ...base, ...silent, ...(notes.length === 0 ? {} : { notes }) };
  return { message, file: null };
}

/** Puts names in the place of mentions: Signal's text has one character for each. */
function wordsIn(text: string, mentions: readonly Mention[], reading: Reading): string {
  const fromTheEnd = mentions.toSorted((one, other) => other.start - one.start);
  return fromTheEnd
    .reduce((words, mention) => {
      const { start, length, name, ...person } = mention;
      const known = isMe(reading.me, person)
        ? reading.assistantName
        : (reading.nameOf(person) ?? person.number ?? name ?? 'somebody');
      return `${words.slice(0, start)}@${known}${words.slice(start + length)}`;
    }, text)
    .trim();
}

function callsAssistant({ mentions, quote }: DataMessage, me: Me): boolean {
  const isMentioned = (mentions ?? []).some((mention) => isMe(me, mention));
  return isMentioned || (quote != null && isMe(me, quoted(quote)));
}

function quoted({ authorNumber, authorUuid }: NonNullable<DataMessage['quote']>): Person {
  return { number: authorNumber, uuid: authorUuid };
}

/** The note for what a message answers, the assistant's own words as well: the conversation may not hold them any more. */
function answerOf({ quote }: DataMessage, reading: Reading): string | null {
  if (quote == null) return null;
  const person = quoted(quote);
  const who = reading.nameOf(person) ?? quote.authorNumber ?? null;
  const kinds = (quote.attachments ?? []).map(({ contentType = null }) =>
    kindOf({ contentType, filename: '' }),
  );
  return answerNote({
    from: isMe(reading.me, person) ? reading.assistantName : who,
    words: wordsIn(quote.text ?? '', quote.mentions ?? [], reading),
    content: kinds.join(', '),
  });
}

/** Content that is neither text nor a file. */
function notesOf(data: DataMessage): readonly string[] {
  const { sticker, contacts, pollCreate: poll, pollTerminate, pollVote, payment, viewOnce } = data;
  const unknown = unknownPartOf(data);
  return [
    ...(viewOnce === true ? [withheldNote('media', 'it can be viewed once')] : []),
    ...(sticker == null ? [] : [stickerNote(null)]),
    ...(payment == null ? [] : [withheldNote('a payment', 'only the apps show payments')]),
    ...(poll == null
      ? []
      : [pollNote({ question: poll.question, options: poll.options.map((text) => ({ text })) })]),
    ...(pollTerminate == null ? [] : [happenedNote('a poll was closed')]),
    ...(pollVote == null ? [] : [happenedNote('voted in a poll')]),
    ...(contacts ?? []).map(({ name, phone }) => {
      const full = name?.display ?? [name?.given, name?.family].filter(Boolean).join(' ');
      const numbers = (phone ?? []).flatMap(({ value }) => value ?? []);
      return contactNote(full, numbers);
    }),
    ...(unknown === null ? [] : [unknownNote(unknown)]),
  ];
}

function withFile(message: InboundMessage, file: FarAttachment): Readable {
  const { id: farId, size = null, filename: name = null } = file;
  const attachment = {
    kind: kindOf(file),
    mimeType: file.contentType ?? null,
    sizeBytes: size,
    name,
  };
  const reference = farId == null ? null : { farId, size, name };
  return { message: { ...message, attachments: [attachment] }, file: reference };
}

/** Tells the kind of a file. A recording of the app has no name. */
function kindOf({ contentType, filename }: FarAttachment): Attachment['kind'] {
  const [kind] = (contentType ?? '').split('/', 1);
  if (kind === 'audio') return filename == null ? 'voice' : 'audio';
  return kind === 'image' || kind === 'video' ? kind : 'document';
}

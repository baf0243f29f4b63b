import { shortened } from '../../lib/graphemes.ts';
import type { Attachment, InboundMessage } from '../channel.ts';
import type { DataMessage, FarAttachment, Mention } from './envelope.ts';
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

const QUOTE_CHARACTERS = 400;

/**
 * Reads what a person said. A message has one file for the host: of several, the others come before it as messages of
 * their own, to be known about. None where nothing was said, as in a change of the group.
 */
export function readMessage(spoken: Spoken, reading: Reading): readonly Readable[] {
  const { data } = spoken;
  const base = baseOf(spoken, reading);
  if (base === null) return [];
  if (data.remoteDelete != null) return [context(base, '[takes back a message of theirs]')];
  const words = wordsIn(data.message ?? '', data.mentions ?? [], reading);
  if (spoken.corrects !== null) {
    return words === ''
      ? []
      : [context(base, `[corrects what they wrote to: "${oneLine(words)}"]`)];
  }
  const own = [...notesOf(data), words].filter((part) => part !== '').join(' ');
  const [first, ...others] = data.viewOnce === true ? [] : (data.attachments ?? []);
  if (own === '' && first === undefined) return [];
  const text = withQuotation(own, data, reading);
  const whole: InboundMessage = {
    ...base,
    text,
    ...(text === own ? {} : { ownWords: own }),
    mentionsAssistant: callsAssistant(data, reading.me),
  };
  const extras = others.map((attachment, at) => {
    const message = { ...context(base, '').message, id: `${base.id}/${at + 2}` };
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

function context(base: Omit<InboundMessage, 'text' | 'mentionsAssistant'>, text: string): Readable {
  const message = { ...base, text, mentionsAssistant: false, isContext: true };
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

/** Adds what a message answers after its text, unless it is the assistant's own, which the conversation has. */
function withQuotation(text: string, { quote }: DataMessage, reading: Reading): string {
  if (quote == null || isMe(reading.me, quoted(quote))) return text;
  const words = oneLine(wordsIn(quote.text ?? '', quote.mentions ?? [], reading));
  if (words === '') return text;
  const said = shortened(words, QUOTE_CHARACTERS);
  const who = reading.nameOf(quoted(quote)) ?? quote.authorNumber ?? 'somebody';
  return `${text}\n[in answer to ${oneLine(who)}: "${said}"]`;
}

/** Content that is neither text nor a file, in words. */
function notesOf({
  sticker,
  contacts,
  pollCreate,
  payment,
  viewOnce,
}: DataMessage): readonly string[] {
  return [
    viewOnce === true ? '[something to be viewed once]' : '',
    sticker == null ? '' : '[sticker]',
    payment == null ? '' : '[payment]',
    pollCreate == null ? '' : `[poll] ${pollCreate.question}: ${pollCreate.options.join(', ')}`,
    ...(contacts ?? []).map(({ name, phone }) => {
      const full = name?.display ?? [name?.given, name?.family].filter(Boolean).join(' ');
      const numbers = (phone ?? []).flatMap(({ value }) => value ?? []);
      return `[contact] ${[full, ...numbers].join(' ')}`.trimEnd();
    }),
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

/** Puts a text on one line and replaces its brackets, so that no sender's text passes for our own note. */
function oneLine(text: string): string {
  return text.replace(/[\s\]]+/g, ' ').trim();
}

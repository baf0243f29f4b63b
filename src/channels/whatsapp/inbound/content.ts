import type { proto } from '@whiskeysockets/baileys';
import type { Attachment } from '../../channel.ts';

/** The content of a message, without its sender and chat. */
export type Content = {
  /** The text, then a line in brackets for each part that is not text. */
  readonly text: string;
  readonly attachment: MediaPart | null;
  readonly isContext: boolean;
  readonly quoted: Quoted | null;
  /** Addresses of people that are mentioned, in either form. */
  readonly mentioned: readonly string[];
};

/** A file in a message, and what is needed to fetch it. */
export type MediaPart = { readonly attachment: Attachment; readonly source: MediaSource };

export type MediaSource = {
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly fileSha256: Uint8Array | null;
};

/** The message that another one answers, or reacts to; then its text is not there. */
export type Quoted = { readonly id: string; readonly sender: string | null; readonly text: string };

/** Reads the inside of a message; null where it has nothing for people, such as keys and receipts. */
export function readContent(message: proto.IMessage): Content | null {
  const edited = message.protocolMessage?.editedMessage;
  const read = edited ? readEdited(edited) : readPlain(message);
  if (read === null) return null;
  const context = contextOf(message);
  return {
    // The host names a file that can be fetched; of one that cannot this note is all there is.
    text: [read.words, ...(read.note === null || read.media ? [] : [`[${read.note}]`])]
      .filter((line) => line !== '')
      .join('\n'),
    attachment: read.media ?? null,
    isContext: read.isContext ?? false,
    quoted: quotedIn(context) ?? reactedTo(message),
    mentioned: context?.mentionedJid ?? [],
  };
}

type Reading = {
  readonly words: string;
  readonly note: string | null;
  readonly media?: MediaPart | null;
  readonly isContext?: boolean;
};

function readEdited(edited: proto.IMessage): Reading | null {
  const read = readPlain(edited);
  return read === null ? null : { words: read.words, note: 'corrected', isContext: true };
}

function readPlain(message: proto.IMessage): Reading | null {
  const words = message.conversation ?? message.extendedTextMessage?.text ?? chosenIn(message);
  if (words) return { words, note: null };
  return readMedia(message) ?? readPlace(message) ?? readPeople(message) ?? readSigns(message);
}

function chosenIn(message: proto.IMessage): string | null | undefined {
  return (
    message.buttonsResponseMessage?.selectedDisplayText ??
    message.templateButtonReplyMessage?.selectedDisplayText ??
    message.listResponseMessage?.title
  );
}

function readMedia(message: proto.IMessage): Reading | null {
  const { imageMessage, videoMessage, ptvMessage, audioMessage } = message;
  const { documentMessage, stickerMessage } = message;
  const video = videoMessage ?? ptvMessage;
  if (imageMessage) return mediaReading(imageMessage, 'image', 'image');
  if (video) return mediaReading(video, 'video', 'video');
  if (audioMessage)
    return mediaReading(audioMessage, audioMessage.ptt ? 'voice' : 'audio', 'audio');
  if (documentMessage) return mediaReading(documentMessage, 'document', 'document');
  if (stickerMessage) return mediaReading(stickerMessage, 'sticker', 'sticker');
  return null;
}

type AnyMedia = proto.Message.IImageMessage &
  Pick<proto.Message.IAudioMessage, 'seconds'> &
  Pick<proto.Message.IDocumentMessage, 'fileName'>;

function mediaReading(
  media: AnyMedia,
  kind: Attachment['kind'],
  type: MediaSource['type'],
): Reading {
  const { directPath, mediaKey, fileSha256 } = media;
  const attachment = {
    kind,
    mimeType: media.mimetype ?? null,
    sizeBytes: media.fileLength ? Number(media.fileLength) : null,
    name: media.fileName ?? null,
    ...(media.seconds ? { seconds: media.seconds } : {}),
  };
  const source =
    directPath && mediaKey ? { type, directPath, mediaKey, fileSha256: fileSha256 ?? null } : null;
  return {
    words: media.caption ?? '',
    note: describe(attachment),
    media: source === null ? null : { attachment, source },
  };
}

function describe({ kind, name, seconds, sizeBytes }: Attachment): string {
  const parts = [
    name === null ? kind : `${kind} "${oneLine(name)}"`,
    ...(seconds ? [`${seconds} s`] : []),
    ...(sizeBytes === null ? [] : [sizeInWords(sizeBytes)]),
  ];
  return parts.join(', ');
}

function sizeInWords(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function readPlace(message: proto.IMessage): Reading | null {
  const place = message.locationMessage ?? message.liveLocationMessage;
  if (!place) return null;
  const { name, address } = message.locationMessage ?? {};
  const where = [name, address].filter((part) => part).map((part) => oneLine(part ?? ''));
  const note = [`location ${place.degreesLatitude}, ${place.degreesLongitude}`, ...where];
  return { words: message.locationMessage?.comment ?? '', note: note.join(', ') };
}

/** A line of a card. Its name ends with the line, whichever sign ends that, so that no text is read twice. */
const NUMBER = /^TEL[^:\r\n\u2028\u2029]*:(.+)$/gm;

function readPeople(message: proto.IMessage): Reading | null {
  const { contactMessage, contactsArrayMessage } = message;
  const contacts = contactsArrayMessage?.contacts ?? (contactMessage ? [contactMessage] : []);
  if (contacts.length === 0) return null;
  const people = contacts.map(({ displayName, vcard }) => {
    const numbers = [...(vcard ?? '').matchAll(NUMBER)].map(([, number]) => number);
    return [oneLine(displayName ?? ''), ...numbers.map((number) => number?.trim())].join(' ');
  });
  return { words: '', note: `contact ${people.join('; ')}` };
}

function readSigns(message: proto.IMessage): Reading | null {
  const { reactionMessage, protocolMessage } = message;
  const poll =
    message.pollCreationMessage ?? message.pollCreationMessageV2 ?? message.pollCreationMessageV3;
  if (poll) {
    const options = (poll.options ?? []).map(({ optionName }) => optionName).join(' / ');
    return { words: '', note: `poll "${oneLine(poll.name ?? '')}": ${oneLine(options)}` };
  }
  if (reactionMessage) {
    const note = reactionMessage.text
      ? `reacts with ${reactionMessage.text}`
      : 'takes a reaction back';
    return { words: '', note, isContext: true };
  }
  // 0 is REVOKE, and what protobuf leaves out: only a message that names its victim is one.
  if (protocolMessage?.type === 0 && protocolMessage.key?.id) {
    return { words: '', note: 'deleted a message', isContext: true };
  }
  return null;
}

function contextOf(message: proto.IMessage): proto.IContextInfo | null {
  for (const part of Object.values(message)) {
    const isPart = typeof part === 'object' && part !== null && 'contextInfo' in part;
    // Every kind of message that has this field has it in this shape.
    if (isPart && part.contextInfo) return part.contextInfo as proto.IContextInfo;
  }
  return null;
}

function quotedIn(context: proto.IContextInfo | null): Quoted | null {
  if (!context?.stanzaId || !context.quotedMessage) return null;
  const text = readPlain(context.quotedMessage);
  return {
    id: context.stanzaId,
    sender: context.participant ?? null,
    text: oneLine(text === null ? '' : text.words || `[${text.note}]`),
  };
}

function reactedTo({ reactionMessage }: proto.IMessage): Quoted | null {
  const id = reactionMessage?.key?.id;
  return id ? { id, sender: null, text: '' } : null;
}

/** Puts a text on one line and replaces its brackets, so that no sender's text passes for our own note. */
export function oneLine(text: string): string {
  return text.replace(/[\s\]]+/g, ' ').trim();
}

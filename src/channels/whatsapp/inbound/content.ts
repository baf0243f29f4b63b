import type { proto } from '@whiskeysockets/baileys';
import type { Attachment } from '../../channel.ts';
import {
  buttonsNote,
  contactNote,
  correctedNote,
  deletedNote,
  eventNote,
  inviteNote,
  oneLine,
  placeNote,
  pollNote,
  pressedNote,
  unknownNote,
  withheldNote,
} from '../../kit/notes.ts';

/** The content of a message, without its sender and chat. */
export type Content = {
  /** The words as they were written. */
  readonly text: string;
  /** Everything that is not a word, a line each. */
  readonly notes: readonly string[];
  readonly isForwarded: boolean;
  readonly attachment: MediaPart | null;
  readonly isContext: boolean;
  readonly quoted: Quoted | null;
  /** Addresses of people that are mentioned, in either form. */
  readonly mentioned: readonly string[];
};

/** A file in a message, and the data needed to fetch it. */
export type MediaPart = { readonly attachment: Attachment; readonly source: MediaSource };

export type MediaSource = {
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly fileSha256: Uint8Array | null;
};

/** The message that another one answers, or reacts to; then its text is not there. */
export type Quoted = {
  readonly id: string;
  readonly sender: string | null;
  readonly text: string;
  /** Notes of what it holds beside words. */
  readonly content: string | null;
  readonly hasFile: boolean;
};

/**
 * Reads the content of a message; null if it has none for people, as with keys and receipts.
 *
 * @param isViewOnce its picture or recording is meant to be viewed once: it is told of, and not kept
 */
export function readContent(message: proto.IMessage, isViewOnce = false): Content | null {
  const edited = message.protocolMessage?.editedMessage;
  const read = edited ? readEdited(edited) : (readPlain(message) ?? readUnknown(message));
  if (read === null) return null;
  const context = contextOf(edited ?? message);
  const media = isViewOnce ? null : (read.media ?? null);
  return {
    text: read.words,
    notes: isViewOnce && read.note !== null ? [onceNote(read.note)] : notesIn(read),
    isForwarded: context?.isForwarded === true || (context?.forwardingScore ?? 0) > 0,
    attachment: media,
    isContext: read.isContext ?? false,
    quoted: quotedIn(context) ?? reactedTo(message),
    mentioned: context?.mentionedJid ?? [],
  };
}

/** Tells whether a message is wrapped as one that is to be viewed once, or says so of its file. */
export function isToBeViewedOnce(message: proto.IMessage, depth = 5): boolean {
  const wrapped = [
    message.viewOnceMessage,
    message.viewOnceMessageV2,
    message.viewOnceMessageV2Extension,
  ].find((one) => one);
  if (wrapped) return wrapped.message ? isMedia(wrapped.message) : false;
  const { imageMessage, videoMessage, audioMessage, ephemeralMessage } = message;
  if (imageMessage?.viewOnce || videoMessage?.viewOnce || audioMessage?.viewOnce) return true;
  const inner = ephemeralMessage?.message;
  return inner && depth > 0 ? isToBeViewedOnce(inner, depth - 1) : false;
}

function isMedia({
  imageMessage,
  videoMessage,
  audioMessage,
  ptvMessage,
}: proto.IMessage): boolean {
  return [imageMessage, videoMessage, audioMessage, ptvMessage].some((one) => one);
}

function onceNote(what: string): string {
  return withheldNote(what, 'it can be viewed once');
}

type Reading = {
  readonly words: string;
  readonly note: string | null;
  readonly media?: MediaPart | null;
  /** Labels of buttons and list entries below it. */
  readonly buttons?: readonly string[];
  readonly isContext?: boolean;
};

/** The host names a file that can be fetched; of one that cannot, the note is all there is. */
function notesIn({ note, media, buttons = [] }: Reading): readonly string[] {
  return [
    ...(note === null || media ? [] : [note]),
    ...(buttons.length === 0 ? [] : [buttonsNote(buttons)]),
  ];
}

function readEdited(edited: proto.IMessage): Reading | null {
  const read = readPlain(edited);
  if (read === null) return null;
  return { words: '', note: correctedNote(read.words || (read.note ?? '')), isContext: true };
}

function readPlain(message: proto.IMessage): Reading | null {
  const words = message.conversation ?? message.extendedTextMessage?.text;
  if (words) return { words, note: null };
  const chosen = chosenIn(message);
  if (chosen) return { words: '', note: pressedNote(chosen) };
  return (
    readMedia(message) ??
    readPlace(message) ??
    readPeople(message) ??
    readSigns(message) ??
    readBusiness(message) ??
    readInvitation(message)
  );
}

function chosenIn(message: proto.IMessage): string | null | undefined {
  return (
    message.buttonsResponseMessage?.selectedDisplayText ??
    message.templateButtonReplyMessage?.selectedDisplayText ??
    message.listResponseMessage?.title ??
    message.interactiveResponseMessage?.body?.text
  );
}

/** Messages of businesses: words with buttons or a list below them, wares and orders. */
function readBusiness(message: proto.IMessage): Reading | null {
  const { templateMessage, buttonsMessage, listMessage, interactiveMessage } = message;
  const template = templateMessage?.hydratedTemplate ?? templateMessage?.hydratedFourRowTemplate;
  if (template) {
    const { hydratedTitleText, hydratedContentText, hydratedFooterText } = template;
    const buttons = (template.hydratedButtons ?? []).map(
      ({ quickReplyButton: reply, urlButton: link, callButton: call }) =>
        reply?.displayText ??
        (link ? [link.displayText, link.url].join(' ') : null) ??
        (call ? [call.displayText, call.phoneNumber].join(' ') : null),
    );
    const said = [hydratedTitleText, hydratedContentText, hydratedFooterText];
    return withButtons(template, said, buttons);
  }
  if (buttonsMessage) {
    const { text, contentText, footerText, buttons } = buttonsMessage;
    const labels = (buttons ?? []).map(({ buttonText }) => buttonText?.displayText);
    return withButtons(buttonsMessage, [text, contentText, footerText], labels);
  }
  if (listMessage) {
    const { title, description, footerText, sections } = listMessage;
    const rows = (sections ?? []).flatMap((section) => section.rows ?? []);
    return withButtons(
      {},
      [title, description, footerText],
      rows.map((row) => row.title),
    );
  }
  const interactive = interactiveMessage ?? templateMessage?.interactiveMessageTemplate;
  if (interactive) {
    const { header, body, footer, nativeFlowMessage: flow } = interactive;
    const labels = (flow?.buttons ?? []).map((button) => labelIn(button.buttonParamsJson));
    return withButtons(header ?? {}, [header?.title, body?.text, footer?.text], labels);
  }
  const { productMessage, orderMessage } = message;
  if (productMessage) {
    const { title, description, priceAmount1000, currencyCode } = productMessage.product ?? {};
    const price = priceAmount1000 ? `${Number(priceAmount1000) / 1_000} ${currencyCode ?? ''}` : '';
    const what = [title, price, description].map((part) => oneLine(part ?? '')).filter(Boolean);
    return { words: productMessage.body ?? '', note: `product ${what.join(', ')}` };
  }
  if (orderMessage) {
    const { orderTitle, itemCount, message: words } = orderMessage;
    return {
      words: words ?? '',
      note: `order ${oneLine(orderTitle ?? '')}: ${itemCount ?? 0} items`,
    };
  }
  return null;
}

function withButtons(
  holder: Pick<proto.IMessage, 'imageMessage' | 'videoMessage' | 'documentMessage'>,
  said: readonly (string | null | undefined)[],
  labels: readonly (string | null | undefined)[],
): Reading {
  const file = readMedia(holder);
  return {
    words: said.filter((part) => part).join('\n'),
    note: file?.note ?? null,
    ...(file?.media ? { media: file.media } : {}),
    buttons: labels.map((label) => oneLine(label ?? '')).filter((label) => label !== ''),
  };
}

/** A button of a business holds its label as JSON. */
function labelIn(json: string | null | undefined): string | null {
  const [, label] = /"display_text"\s*:\s*"((?:[^"\\]|\\.){0,200})"/.exec(json ?? '') ?? [];
  return label ?? null;
}

function readInvitation(message: proto.IMessage): Reading | null {
  const { groupInviteMessage: invite, scheduledCallCreationMessage: call } = message;
  const { eventMessage: event, requestPaymentMessage: request } = message;
  if (invite) {
    const { groupName, inviteCode, caption } = invite;
    const link = inviteCode ? `https://chat.whatsapp.com/${inviteCode}` : null;
    return { words: caption ?? '', note: inviteNote(groupName ?? 'a group', link) };
  }
  if (event) {
    const { name, startTime, endTime, location, description, joinLink, isCanceled } = event;
    const place = [location?.name, location?.address].filter(Boolean).join(', ');
    const note = eventNote({
      name: name ?? '',
      startsAt: startTime ? new Date(Number(startTime) * 1_000) : null,
      endsAt: endTime ? new Date(Number(endTime) * 1_000) : null,
      place,
      description: description ?? null,
      link: joinLink ?? null,
      isCancelled: isCanceled === true,
    });
    return { words: '', note };
  }
  if (call) {
    const at = call.scheduledTimestampMs;
    const startsAt = at ? new Date(Number(at)) : null;
    return { words: '', note: eventNote({ name: call.title ?? 'a call', startsAt }) };
  }
  if (request) {
    const { amount1000, currencyCodeIso4217: currency, noteMessage } = request;
    const amount = `${Number(amount1000 ?? 0) / 1_000} ${oneLine(currency ?? '')}`;
    const words = noteMessage ? (readPlain(noteMessage)?.words ?? '') : '';
    return { words, note: `asks for a payment of ${amount}` };
  }
  return null;
}

/** Parts that are for devices alone, or are read elsewhere. */
const NOT_FOR_PEOPLE: ReadonlySet<string> = new Set([
  'albumMessage',
  'bcallMessage',
  'call',
  'callLogMesssage',
  'chat',
  'deviceSentMessage',
  'encEventResponseMessage',
  'encReactionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
  'keepInChatMessage',
  'limitSharingMessage',
  'messageContextInfo',
  'messageHistoryBundle',
  'messageHistoryNotice',
  'pinInChatMessage',
  'pollUpdateMessage',
  'protocolMessage',
  'reactionMessage',
  'secretEncryptedMessage',
  'senderKeyDistributionMessage',
  'stickerSyncRmrMessage',
]);

/** A kind that has no reader of its own: one that wraps another, or one to be named at least. */
function readUnknown(message: proto.IMessage, depth = 3): Reading | null {
  const parts: [string, unknown][] = Object.entries(message).filter(
    ([kind, part]) => part && !NOT_FOR_PEOPLE.has(kind),
  );
  // Of a kind that is newer than the library, nothing is left but what says something about it.
  if (Object.keys(message).every((name) => name === 'messageContextInfo')) {
    return { words: '', note: unknownNote('newer than this assistant'), isContext: true };
  }
  const [kind, part] = parts.find(([name]) => !TEXT.has(name)) ?? [];
  if (kind === undefined) return null;
  if (kind === 'placeholderMessage') {
    return { words: '', note: withheldNote('a message', 'WhatsApp shows it on the phone alone') };
  }
  const inner = depth > 0 ? wrappedIn(part) : null;
  const read = inner === null ? null : (readPlain(inner) ?? readUnknown(inner, depth - 1));
  return read ?? { words: '', note: unknownNote(kind.replace(/Message(V\d)?$/, '')) };
}

/** An empty text is none. */
const TEXT: ReadonlySet<string> = new Set(['conversation', 'extendedTextMessage']);

function wrappedIn(part: unknown): proto.IMessage | null {
  if (typeof part !== 'object' || part === null || !('message' in part)) return null;
  // Every part that has this field holds a message in it.
  return typeof part.message === 'object' ? (part.message as proto.IMessage | null) : null;
}

function readMedia(
  message: Pick<
    proto.IMessage,
    | 'imageMessage'
    | 'videoMessage'
    | 'ptvMessage'
    | 'audioMessage'
    | 'documentMessage'
    | 'stickerMessage'
  >,
): Reading | null {
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
  const { locationMessage, liveLocationMessage } = message;
  const place = locationMessage ?? liveLocationMessage;
  if (!place) return null;
  const note = placeNote({
    latitude: place.degreesLatitude ?? 0,
    longitude: place.degreesLongitude ?? 0,
    name: locationMessage?.name,
    address: locationMessage?.address,
    isLive: !locationMessage,
  });
  return { words: locationMessage?.comment ?? liveLocationMessage?.caption ?? '', note };
}

/** A line of a card. Its name ends with the line, whichever sign ends that, so that no text is read twice. */
const NUMBER = /^TEL[^:\r\n\u2028\u2029]*:(.+)$/gm;

function readPeople(message: proto.IMessage): Reading | null {
  const { contactMessage, contactsArrayMessage } = message;
  const contacts = contactsArrayMessage?.contacts ?? (contactMessage ? [contactMessage] : []);
  if (contacts.length === 0) return null;
  const people = contacts.map(({ displayName, vcard }) => {
    const numbers = [...(vcard ?? '').matchAll(NUMBER)].map(([, number = '']) => number.trim());
    return contactNote(displayName ?? null, numbers);
  });
  return { words: '', note: people.join('; ') };
}

function readSigns(message: proto.IMessage): Reading | null {
  const { reactionMessage, protocolMessage } = message;
  const poll =
    message.pollCreationMessage ??
    message.pollCreationMessageV2 ??
    message.pollCreationMessageV3 ??
    message.pollCreationMessageV5;
  if (poll) {
    const options = (poll.options ?? []).map(({ optionName }) => ({ text: optionName ?? '' }));
    return { words: '', note: pollNote({ question: poll.name ?? '', options }) };
  }
  const result = message.pollResultSnapshotMessage ?? message.pollResultSnapshotMessageV3;
  if (result) {
    const options = (result.pollVotes ?? []).map(({ optionName, optionVoteCount }) => ({
      text: optionName ?? '',
      votes: Number(optionVoteCount ?? 0),
    }));
    const note = pollNote({ question: result.name ?? '', options, isClosed: true });
    return { words: '', note };
  }
  if (reactionMessage) {
    const note = reactionMessage.text
      ? `reacts with ${reactionMessage.text}`
      : 'takes a reaction back';
    return { words: '', note, isContext: true };
  }
  // 0 is REVOKE, and what protobuf leaves out: only a message that names its victim is one.
  if (protocolMessage?.type === 0 && protocolMessage.key?.id) {
    return { words: '', note: deletedNote(), isContext: true };
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
  const { quotedMessage, stanzaId: id, participant } = context;
  const read = readPlain(quotedMessage) ?? readUnknown(quotedMessage);
  return {
    id,
    sender: participant ?? null,
    text: read?.words ?? '',
    content: read?.note ?? null,
    hasFile: read?.media != null,
  };
}

function reactedTo({ reactionMessage }: proto.IMessage): Quoted | null {
  const id = reactionMessage?.key?.id;
  return id ? { id, sender: null, text: '', content: null, hasFile: false } : null;
}

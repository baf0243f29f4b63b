import { z } from 'zod';
import type { Attachment } from '../../channel.ts';
import { placeNote, pollNote, stickerNote, unknownNote } from '../../kit/notes.ts';
import type { FileReference } from '../records/file-references.ts';
import type { Message } from './event.ts';

/** The account as messages name it. */
export type Me = {
  readonly userId: string;
  readonly displayName: string | null;
  readonly assistantName: string;
};

/** A file of a message, as the host and the channel know it. */
export type ReadFile = { readonly attachment: Attachment; readonly reference: FileReference };

const KINDS: Readonly<Record<string, Attachment['kind']>> = {
  'm.image': 'image',
  'm.video': 'video',
  'm.audio': 'audio',
  'm.file': 'document',
  'm.sticker': 'sticker',
};

/** Returns the file of a message; null for one without. */
export function fileIn(message: Message): ReadFile | null {
  const { msgtype, body, filename, url, file, info } = message;
  const found = KINDS[msgtype];
  const place = file?.url ?? url;
  if (found === undefined || place === undefined) return null;
  const isVoice = found === 'audio' && message['org.matrix.msc3245.voice'] !== undefined;
  const name = (filename ?? body) || null;
  const sizeBytes = info.size ?? null;
  return {
    attachment: {
      kind: isVoice ? 'voice' : found,
      mimeType: info.mimetype ?? null,
      sizeBytes,
      name: isVoice ? null : name,
      ...(info.duration === undefined ? {} : { seconds: Math.round(info.duration / 1_000) }),
    },
    reference: {
      url: place,
      name,
      sizeBytes,
      encryption: file === undefined ? null : JSON.stringify(file),
    },
  };
}

/** Returns the words of a message, with the account's name where it is mentioned. A file's name is no words. */
export function wordsIn(message: Message, me: Me): string {
  const { msgtype, body, filename } = message;
  if (msgtype === 'm.location' || msgtype === 'm.sticker') return '';
  const isCaption = filename !== undefined && filename !== body;
  if (fileIn(message) !== null && !isCaption) return '';
  const words = named(withoutFallback(body), message, me);
  return msgtype === 'm.emote' ? `* ${words}` : words;
}

/** Tells whether a message calls the account by its name. */
export function mentions(message: Message, { userId }: Me): boolean {
  if (message['m.mentions']?.user_ids.includes(userId)) return true;
  if (message.body.includes(userId)) return true;
  const pill = message.formatted_body ?? '';
  return [userId, encodeURIComponent(userId)].some((id) => pill.includes(`matrix.to/#/${id}`));
}

/** Older apps repeat what a message answers at its beginning. */
function withoutFallback(body: string): string {
  return body.replace(/^> <@[^>\n]+>.*\n(?:>.*\n)*\n/, '');
}

function named(body: string, message: Message, me: Me): string {
  const whole = body.replaceAll(me.userId, `@${me.assistantName}`);
  const { displayName } = me;
  if (displayName === null || !mentions(message, me) || !whole.startsWith(displayName))
    return whole;
  const rest = whole.slice(displayName.length);
  return /^[:,\s]|^$/.test(rest) ? `@${me.assistantName}${rest.replace(/^[:,]/, '')}` : whole;
}

const KNOWN = new Set([...Object.keys(KINDS), 'm.emote', 'm.location', 'm.notice', 'm.text']);

/** Returns the notes for what a message holds beside words and its file. */
export function notesIn(message: Message): readonly string[] {
  const { msgtype, body, geo_uri: uri } = message;
  if (msgtype === 'm.sticker') return fileIn(message) === null ? [stickerNote(body)] : [];
  if (msgtype === 'm.location') {
    const [, latitude, longitude] = /^geo:(-?[\d.]+),(-?[\d.]+)/.exec(uri ?? '') ?? [];
    if (latitude === undefined || longitude === undefined) return [unknownNote(`location ${body}`)];
    return [placeNote({ latitude: Number(latitude), longitude: Number(longitude), name: body })];
  }
  return KNOWN.has(msgtype) ? [] : [unknownNote(msgtype)];
}

const Texts = z.union([
  z.string(),
  z
    .array(z.looseObject({ body: z.string() }))
    .max(20)
    .transform(([first]) => first?.body ?? ''),
]);

/** The text of a part of a poll, as it was first written and as the standard has it now. */
const PollText = z
  .looseObject({
    'org.matrix.msc1767.text': Texts.optional().catch(undefined),
    'm.text': Texts.optional().catch(undefined),
    body: z.string().optional().catch(undefined),
  })
  .transform((part) => part['m.text'] ?? part['org.matrix.msc1767.text'] ?? part.body ?? '');

const Poll = z.looseObject({ question: PollText, answers: z.array(PollText).max(100) });

/** Returns the note for a poll that begins; null where it cannot be read. */
export function pollIn(content: Readonly<Record<string, unknown>>): string | null {
  const { data: poll } = Poll.safeParse(
    content['m.poll'] ?? content['m.poll.start'] ?? content['org.matrix.msc3381.poll.start'],
  );
  if (poll === undefined) return null;
  return pollNote({ question: poll.question, options: poll.answers.map((text) => ({ text })) });
}

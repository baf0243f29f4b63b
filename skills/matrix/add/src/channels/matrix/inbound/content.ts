import { shortened } from '../../../lib/graphemes.ts';
import type { Attachment } from '../../channel.ts';
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
  const { msgtype, body, filename, geo_uri: place } = message;
  if (msgtype === 'm.location') return `[location: ${place ?? body}]`;
  if (msgtype === 'm.sticker') return oneLine(body);
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

const QUOTE_CHARACTERS = 400;

/** Writes what a message answers, to be put after its text. */
export function quotation(name: string, words: string): string {
  const line = oneLine(words);
  const said = shortened(line, QUOTE_CHARACTERS);
  return `\n[in answer to ${oneLine(name)}: "${said}"]`;
}

/** Puts a text on one line and replaces its brackets, so that no sender's text passes for our own note. */
export function oneLine(text: string): string {
  return text.replace(/[\s\]]+/g, ' ').trim();
}

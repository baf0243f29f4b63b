import type { FilePart, ModelMessage, TextPart, UserModelMessage } from 'ai';
import { z } from 'zod';
import type { TurnPicture } from '../../../src/sandbox/protocol/frames.ts';
import type { ReadPicture } from './kept-pictures.ts';

/** So many of the conversation's newest pictures are shown again in each turn; older ones are paths. */
const SHOWN_AGAIN = 4;
/** Pictures that are made for it take a third of it each; the answer does not wait for all of them. */
const READ_MS = 60_000;

const Reference = z.object({ claw: z.object({ picture: z.string() }) });

/** Returns a person's message as the model gets it: with its pictures, as far as the time allows. */
export async function messageWith(
  text: string,
  pictures: readonly TurnPicture[],
  read: ReadPicture,
  timeoutMs = READ_MS,
): Promise<UserModelMessage> {
  if (pictures.length === 0) return { role: 'user', content: text };
  const limit = new AbortController();
  const late = new Error('it takes too long, with those before it');
  const timer = setTimeout(() => limit.abort(late), timeoutMs);
  const inTime: ReadPicture = (path) => read(path, limit.signal);
  const parts = await Promise.all(pictures.map((picture) => partsOf(picture, inTime)));
  clearTimeout(timer);
  return { role: 'user', content: [{ type: 'text', text }, ...parts.flat()] };
}

/** Returns a question with the notes of its turn, such as the time. The session keeps these too. */
export function withNotes(question: UserModelMessage, notes: string | undefined): UserModelMessage {
  if (notes === undefined) return question;
  const { content } = question;
  const asked = typeof content === 'string' ? [noteOf(content)] : content;
  return { ...question, content: [noteOf(`[For this turn]\n${notes}`), ...asked] };
}

async function partsOf(picture: TurnPicture, read: ReadPicture): Promise<(TextPart | FilePart)[]> {
  const { message, path, problem } = picture;
  const name = `picture of message ${message}`;
  if (path === null) return [noteOf(`[The ${name} cannot be shown: ${problem}.]`)];
  try {
    const reference = noteOf(`[${name}: ${path}]`);
    const file = await fileOf(path, read);
    return [{ ...reference, providerOptions: { claw: { picture: path } } }, file];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [noteOf(`[The ${name} cannot be shown: ${reason}. The file is ${path}.]`)];
  }
}

function noteOf(text: string): TextPart {
  return { type: 'text', text };
}

async function fileOf(path: string, read: ReadPicture): Promise<FilePart> {
  const { data, mediaType } = await read(path);
  return { type: 'file', data, mediaType };
}

/** Returns a message as the session keeps it: with the path in place of each picture. */
export function withoutPictures(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.filter(({ type }) => type === 'text') };
}

/** Returns a conversation of the session with its newest pictures in their places. */
export async function withPictures(
  messages: readonly ModelMessage[],
  read: ReadPicture,
): Promise<readonly ModelMessage[]> {
  let left = SHOWN_AGAIN;
  const shown: ModelMessage[] = [];
  for (const message of messages.toReversed()) {
    if (left === 0 || message.role !== 'user' || typeof message.content === 'string') {
      shown.push(message);
      continue;
    }
    const content: (typeof message.content)[number][] = [];
    for (const part of message.content.toReversed()) {
      const path = left > 0 ? pathIn(part) : null;
      // A file that is gone since is a path like older ones.
      const file = path === null ? null : await fileOf(path, read).catch(() => null);
      if (file !== null) {
        content.push(file);
        left -= 1;
      }
      content.push(part);
    }
    shown.push({ ...message, content: content.reverse() });
  }
  return shown.reverse();
}

function pathIn(part: {
  readonly type: string;
  readonly providerOptions?: unknown;
}): string | null {
  if (part.type !== 'text') return null;
  return Reference.safeParse(part.providerOptions).data?.claw.picture ?? null;
}

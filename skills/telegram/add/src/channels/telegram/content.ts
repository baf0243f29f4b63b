import type { Message } from 'grammy/types';
import type { Attachment } from '../channel.ts';

/** The far end's reference to a file. */
export type FileReference = {
  readonly fileId: string;
  readonly sizeBytes: number | null;
  readonly name: string | null;
};

/** A file that came with a message. */
export type MessageFile = { readonly attachment: Attachment; readonly reference: FileReference };

/** Fields of a message that hold a file. An animation has a `document` too, so it comes first. */
const FILES = [
  ['animation', 'video'],
  ['document', 'document'],
  ['video', 'video'],
  ['video_note', 'video'],
  ['voice', 'voice'],
  ['audio', 'audio'],
] as const satisfies readonly (readonly [keyof Message, Attachment['kind']])[];

/** The parts of Telegram's files that are read; which there are differs by kind. */
type AnyFile = {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly duration?: number;
};

type WithFile = Pick<Message, 'photo' | (typeof FILES)[number][0]>;

/** Finds the file of a message, of a photo its largest size; null where it came without one. */
export function fileOf(message: WithFile): MessageFile | null {
  const photo = message.photo?.toSorted((one, other) => one.width - other.width).at(-1);
  if (photo !== undefined) return described('image', { mime_type: 'image/jpeg', ...photo });
  for (const [field, kind] of FILES) {
    const file: AnyFile | undefined = message[field];
    if (file !== undefined) return described(kindOf(kind, file), file);
  }
  return null;
}

/** A picture that is sent "as a file" is a document to Telegram. */
function kindOf(kind: Attachment['kind'], { mime_type: type }: AnyFile): Attachment['kind'] {
  return kind === 'document' && type?.startsWith('image/') === true ? 'image' : kind;
}

function described(
  kind: Attachment['kind'],
  {
    file_id: fileId,
    file_size: size,
    file_name: fileName,
    mime_type: mimeType,
    duration: seconds,
  }: AnyFile,
): MessageFile {
  const sizeBytes = size ?? null;
  const name = fileName ?? null;
  return {
    attachment: {
      kind,
      mimeType: mimeType ?? null,
      sizeBytes,
      name,
      ...(seconds === undefined ? {} : { seconds }),
    },
    reference: { fileId, sizeBytes, name },
  };
}

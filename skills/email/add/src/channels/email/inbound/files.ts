import type { FetchMessageObject } from 'imapflow';
import type { Attachment } from '../../channel.ts';

type Structure = NonNullable<FetchMessageObject['bodyStructure']>;

/** A mail with more says how many are left out. */
export const MOST_FILES = 10;
const DEEPEST = 50;
/** Pictures of a signature are smaller. */
const SMALLEST_PICTURE = 10_000;
const SIGNATURES = /^application\/(pgp-signature|(x-)?pkcs7-signature|pgp-encrypted)$/;

/** A file of a mail: the number of its part, and what the mail says of it. */
export type MailFile = { readonly part: string; readonly attachment: Attachment };

/** Lists the files of a mail, and the part with its text, as the server describes them. */
export function partsOf(structure: Structure | undefined): {
  readonly files: readonly MailFile[];
  readonly textPart: string | null;
} {
  const files: MailFile[] = [];
  let textPart: string | null = null;
  const walk = (node: Structure, depth: number): void => {
    const type = node.type?.toLowerCase() ?? '';
    if (type.startsWith('multipart/')) {
      if (depth < DEEPEST) for (const child of node.childNodes ?? []) walk(child, depth + 1);
      return;
    }
    const part = node.part ?? '1';
    const name = node.dispositionParameters?.['filename'] ?? node.parameters?.['name'] ?? null;
    const isText = type === 'text/plain' || type === 'text/html' || type === '';
    // A text that only has a name is shown with the mail, as mail programs do.
    const isFile = node.disposition?.toLowerCase() === 'attachment' || !isText;
    if (!isFile) {
      textPart ??= part;
      return;
    }
    const sizeBytes = decodedSize(node);
    if (SIGNATURES.test(type)) return;
    if (type.startsWith('image/') && node.id !== undefined && sizeBytes < SMALLEST_PICTURE) return;
    files.push({ part, attachment: { kind: kindOf(type), mimeType: type, sizeBytes, name } });
  };
  if (structure !== undefined) walk(structure, 0);
  return { files, textPart };
}

function decodedSize({ size = 0, encoding }: Structure): number {
  // Lines of 76 characters and their ends, each four for three bytes.
  return encoding?.toLowerCase() === 'base64' ? Math.floor((size * 76 * 3) / (78 * 4)) : size;
}

function kindOf(type: string): Attachment['kind'] {
  const [kind] = type.split('/', 1);
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

import { open } from 'node:fs/promises';

/** The type of a file, by its content. */
export type FileKind = { readonly mimeType: string; readonly extension: string };

type Signature = FileKind & { readonly at: number; readonly bytes: readonly (number | string)[] };

const SIGNATURES: readonly Signature[] = [
  { mimeType: 'image/jpeg', extension: 'jpg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mimeType: 'image/png', extension: 'png', at: 0, bytes: [0x89, 'PNG'] },
  { mimeType: 'image/gif', extension: 'gif', at: 0, bytes: ['GIF8'] },
  { mimeType: 'image/webp', extension: 'webp', at: 8, bytes: ['WEBP'] },
  { mimeType: 'audio/wav', extension: 'wav', at: 8, bytes: ['WAVE'] },
  { mimeType: 'audio/ogg', extension: 'ogg', at: 0, bytes: ['OggS'] },
  { mimeType: 'audio/mpeg', extension: 'mp3', at: 0, bytes: ['ID3'] },
  { mimeType: 'audio/mpeg', extension: 'mp3', at: 0, bytes: [0xff, 0xfb] },
  { mimeType: 'audio/amr', extension: 'amr', at: 0, bytes: ['#!AMR'] },
  { mimeType: 'audio/mp4', extension: 'm4a', at: 4, bytes: ['ftypM4A'] },
  { mimeType: 'image/heic', extension: 'heic', at: 4, bytes: ['ftypheic'] },
  { mimeType: 'video/mp4', extension: 'mp4', at: 4, bytes: ['ftyp'] },
  { mimeType: 'video/webm', extension: 'webm', at: 0, bytes: [0x1a, 0x45, 0xdf, 0xa3] },
  { mimeType: 'application/pdf', extension: 'pdf', at: 0, bytes: ['%PDF-'] },
  { mimeType: 'application/zip', extension: 'zip', at: 0, bytes: ['PK', 3, 4] },
  { mimeType: 'application/gzip', extension: 'gz', at: 0, bytes: [0x1f, 0x8b] },
];

const LOOKED_AT = 4_096;

/** Finds the type in the first bytes. The type that a sender claims proves nothing. */
export function kindOf(content: Uint8Array): FileKind {
  const head = Buffer.from(content.subarray(0, LOOKED_AT));
  const found = SIGNATURES.find(({ at, bytes }) => {
    const wanted = Buffer.concat(
      bytes.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))),
    );
    return head.subarray(at, at + wanted.length).equals(wanted);
  });
  if (found !== undefined) return { mimeType: found.mimeType, extension: found.extension };
  return isText(head)
    ? { mimeType: 'text/plain', extension: 'txt' }
    : { mimeType: 'application/octet-stream', extension: 'bin' };
}

/** Reads as much of a file as `kindOf` looks at. */
export async function headOf(path: string): Promise<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  try {
    // As a stream, because the last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false; // That is the answer.
  }
}

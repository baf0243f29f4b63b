/** The first bytes of a page, in which browsers look for its charset. */
const HEAD_BYTES = 4_096;

/**
 * Decodes the bytes of a page: by its byte order mark, by what the server says, by what the page says of
 * itself, else as UTF-8. A charset that nobody knows counts as not said.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  const said = [markOf(bytes), charsetIn(contentType), inMeta(head), inDeclaration(head), 'utf-8'];
  const decoders = said.map((label) => (label === undefined ? null : decoderOf(label)));
  const decoder = decoders.find((one) => one !== null) ?? new TextDecoder();
  return decoder.decode(bytes);
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

function charsetIn(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1];
}

function inMeta(head: string): string | undefined {
  const [, label] = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head) ?? [];
  // Text in which this could be read is not in UTF-16, whatever it says.
  return label !== undefined && /^utf-16/i.test(label) ? 'utf-8' : label;
}

function inDeclaration(head: string): string | undefined {
  return /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null; // No such charset: the next place is asked.
  }
}

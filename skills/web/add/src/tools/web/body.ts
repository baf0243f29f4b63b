import { Duplex, pipeline, type Readable } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { PageRefused } from './page-address.ts';

/** Most layers of compression; servers use one. */
const MOST_LAYERS = 2;

/** The compressions that a request names, so that servers use them. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br, zstd';

/**
 * Reads the body of an answer, unpacked. It is counted as it is unpacked, so a small answer that would unpack to
 * gigabytes ends at the limit.
 *
 * @throws PageRefused where it is longer than `maxBytes`, or cannot be unpacked
 */
export async function readBody(
  body: Readable,
  encoding: string,
  maxBytes: number,
): Promise<Buffer> {
  const layers = unpackers(encoding);
  // What goes wrong on the way is thrown by the last stream.
  const unpacked =
    layers.length === 0 ? body : (pipeline([body, ...layers], () => {}) as unknown as Readable);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of unpacked) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw tooLong(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!isPackingFault(error)) throw error;
    const text = `The site packs its answer as ${encoding} and it cannot be unpacked.`;
    throw new PageRefused(text, { cause: error });
  }
  return Buffer.concat(chunks, sizeBytes);
}

/** Says that an answer is longer than it may be. */
export function tooLong(maxBytes: number): PageRefused {
  const megabytes = Math.round(maxBytes / 1_000_000);
  return new PageRefused(`The page is longer than ${megabytes} MB unpacked, so it was not read.`);
}

/** In the order in which they have to be undone: the last one first. */
function unpackers(encoding: string): readonly Duplex[] {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_LAYERS) {
    throw new PageRefused(`The site packs its answer ${names.length} times over: ${encoding}.`);
  }
  return names.reverse().map((name) => {
    switch (name) {
      case 'gzip':
      case 'x-gzip':
        return createGunzip();
      case 'deflate':
        return Duplex.from(inflateEither);
      case 'br':
        return createBrotliDecompress();
      case 'zstd':
        return createZstdDecompress();
      default:
        throw new PageRefused(`The site packs its answer as ${name}, which cannot be unpacked.`);
    }
  });
}

/**
 * Unpacks `deflate` with the header that it should have, or without one, as some servers send it and browsers take
 * it. The header's first byte begins no bare stream: it would be a stored block with padding that is not zero.
 */
async function* inflateEither(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const { value: first, done: isEmpty } = await chunks.next();
  if (isEmpty) return;
  async function* whole() {
    yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const hasHeader = ((first[0] ?? 0) & 0x0f) === 8;
  yield* pipeline(whole, hasHeader ? createInflate() : createInflateRaw(), () => {});
}

function isPackingFault(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:Z_|ERR_ZSTD|ZSTD_|ERR_BROTLI|ERR__ERROR_|ERR_PADDING)/.test(code);
}

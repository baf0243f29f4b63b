/** The type and the size of a picture, as its first bytes say, whatever its name. */
export type PictureHead = {
  readonly mediaType: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif';
  readonly width: number;
  readonly height: number;
  /** Whether every model's server reads it as it is: one picture, in colours of 8 bits for screens. */
  readonly isCommon: boolean;
};

/** Reads the head of a picture without decoding it; null for any other file, and for one that ends in its head. */
export function pictureHead(bytes: Buffer): PictureHead | null {
  try {
    return headOf(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null; // The file ends within its head.
    throw error;
  }
}

function headOf(bytes: Buffer): PictureHead | null {
  const ascii = (from: number, to: number) => bytes.toString('latin1', from, to);
  if (ascii(0, 4) === '\x89PNG') {
    return {
      mediaType: 'image/png',
      width: bytes.readUInt32BE(16),
      height: bytes.readUInt32BE(20),
      isCommon: bytes.readUInt8(24) <= 8,
    };
  }
  if (ascii(0, 4) === 'GIF8') {
    const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    return { mediaType: 'image/gif', width, height, isCommon: false };
  }
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return webpHead(bytes, ascii(12, 16));
  if (bytes.readUInt16BE(0) === 0xffd8) return jpegHead(bytes);
  return null;
}

function webpHead(bytes: Buffer, chunk: string): PictureHead | null {
  const kind = { mediaType: 'image/webp', isCommon: false } as const;
  if (chunk === 'VP8X') {
    return { ...kind, width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
  }
  if (chunk === 'VP8 ') {
    const [width, height] = [bytes.readUInt16LE(26), bytes.readUInt16LE(28)];
    return { ...kind, width: width & 0x3fff, height: height & 0x3fff };
  }
  if (chunk !== 'VP8L') return null;
  const packed = bytes.readUInt32LE(21);
  return { ...kind, width: 1 + (packed & 0x3fff), height: 1 + ((packed >> 14) & 0x3fff) };
}

/** Goes from segment to segment, up to the one that says the size. */
function jpegHead(bytes: Buffer): PictureHead | null {
  let at = 2;
  for (;;) {
    const marker = bytes.readUInt16BE(at);
    if (marker >> 8 !== 0xff) return null;
    // A byte that fills the space before a marker.
    if (marker === 0xffff) {
      at += 1;
      continue;
    }
    const isSize =
      marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isSize) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      const isCommon = [1, 3].includes(bytes.readUInt8(at + 9)); // Four are of a printer.
      return { mediaType: 'image/jpeg', width, height, isCommon };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
}

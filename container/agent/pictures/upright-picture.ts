/** Pixels of four bytes each, row by row. */
export type Pixels = {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
};

/**
 * Reads how a JPEG is to be turned, as cameras note it in the Exif segment: 1 for not at all.
 *
 * Source: Exif 2.32, 4.6.4, tag 0x0112
 */
export function orientationOf(jpeg: Buffer): number {
  try {
    return orientationIn(jpeg);
  } catch (error) {
    if (error instanceof RangeError) return 1; // The file ends within its head.
    throw error;
  }
}

function orientationIn(jpeg: Buffer): number {
  let at = 2;
  while (jpeg.readUInt8(at) === 0xff && jpeg.readUInt8(at + 1) !== 0xda) {
    const isExif =
      jpeg.readUInt8(at + 1) === 0xe1 && jpeg.toString('latin1', at + 4, at + 8) === 'Exif';
    if (isExif) return tagIn(jpeg.subarray(at + 10));
    at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return 1;
}

function tagIn(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const count = short(directory);
  for (let entry = 0; entry < count; entry += 1) {
    const at = directory + 2 + entry * 12;
    if (short(at) !== 0x0112) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** Turns and mirrors a picture so that it shows as it was taken. */
export function upright({ data, width, height }: Pixels, orientation: number): Pixels {
  const isTurned = orientation >= 5;
  const [wide, high] = isTurned ? [height, width] : [width, height];
  const source = new Uint32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
  const turned = new Uint32Array(source.length);
  const [right, bottom] = [width - 1, height - 1];
  const isFromRight = [2, 3, 7, 8].includes(orientation);
  const isFromBottom = [3, 4, 6, 7].includes(orientation);
  for (let y = 0; y < high; y += 1) {
    for (let x = 0; x < wide; x += 1) {
      const [column, row] = isTurned ? [y, x] : [x, y];
      const from = isFromRight ? right - column : column;
      const line = isFromBottom ? bottom - row : row;
      turned[y * wide + x] = source[line * width + from] ?? 0;
    }
  }
  return { data: new Uint8Array(turned.buffer), width: wide, height: high };
}

import { crc32, deflateSync } from 'node:zlib';
import photon from '@silvia-odwyer/photon-node';

export type PictureParts = {
  readonly width: number;
  readonly height: number;
  /** Of each colour; 8 by default. */
  readonly bits?: 8 | 16;
};

/** Makes a PNG with stripes. `pixels` is what it holds, where that is not what its head says. */
export function pngOf({ width, height, bits = 8 }: PictureParts, pixels?: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bits, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(pixels ?? stripes(width, height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Makes a JPEG of the same. */
export function jpegOf(parts: PictureParts): Buffer {
  return Buffer.from(photon.PhotonImage.new_from_byteslice(pngOf(parts)).get_bytes_jpeg(80));
}

/** Makes a WebP of the same. */
export function webpOf(parts: PictureParts): Buffer {
  return Buffer.from(photon.PhotonImage.new_from_byteslice(pngOf(parts)).get_bytes_webp());
}

function stripes(width: number, height: number): Buffer {
  const row = Buffer.alloc(1 + width * 3);
  for (let at = 0; at < width; at += 1) row.set([at % 256, (at >> 3) % 256, 90], 1 + at * 3);
  return Buffer.concat(Array.from({ length: height }, () => row));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A process that decodes a picture, and makes it as small as a model wants it. */
import { readFile } from 'node:fs/promises';
import photon from '@silvia-odwyer/photon-node';
import { z } from 'zod';
import { pictureHead } from '../../../src/lib/picture-head.ts';
import { answerParent } from '../files/in-own-process.ts';
import type { PictureForModel } from '../pictures/picture.ts';
import { orientationOf, upright } from '../pictures/upright-picture.ts';

const Input = z.object({ path: z.string(), maxEdge: z.int(), maxBytes: z.int() });

/** Decoded, each pixel takes four bytes, some times over. */
const MAX_PIXELS = 40_000_000;
/** Servers refuse narrower ones, and the others of the request with them: a small one is made larger. */
const MIN_EDGE = 11;
/** The first at which it is small enough. */
const JPEG_QUALITIES = [80, 60, 40, 20, 5];

async function read(input: unknown): Promise<PictureForModel> {
  const { path, maxEdge, maxBytes } = Input.parse(input);
  const bytes = await readFile(path);
  const head = pictureHead(bytes);
  if (head === null) throw new RefusedPicture('it is no JPEG, PNG, WebP or GIF picture');
  const { width, height, mediaType, isCommon } = head;
  if (width * height > MAX_PIXELS) {
    throw new RefusedPicture(`it has ${width} x ${height} pixels, and 40 million are the most`);
  }
  const least = Math.max(1, MIN_EDGE / Math.min(width, height));
  const scale = Math.min(least, maxEdge / Math.max(width, height));
  const size = [width, height].map((edge) => Math.max(1, Math.round(edge * scale)));
  const [w = 1, h = 1] = size;
  if (Math.min(w, h) < MIN_EDGE) {
    throw new RefusedPicture(`it is too narrow for a model, with ${width} x ${height} pixels`);
  }
  // Always, even where the file goes on as it is: no model's server is sent one that cannot be decoded.
  const whole = photon.PhotonImage.new_from_byteslice(bytes);
  const orientation = mediaType === 'image/jpeg' ? orientationOf(bytes) : 1;
  if (isCommon && scale === 1 && bytes.length <= maxBytes && orientation === 1) {
    return { mediaType, data: bytes, width, height };
  }
  const small = photon.resize(whole, w, h, photon.SamplingFilter.Triangle);
  whole.free();
  if (mediaType !== 'image/jpeg') {
    const data = small.get_bytes();
    // Drawings and screens stay sharp, and what is transparent stays so.
    if (data.length <= maxBytes) return { mediaType: 'image/png', data, width: w, height: h };
  }
  const scaled = { data: onWhite(small.get_raw_pixels()), width: w, height: h };
  const turned = orientation === 1 ? scaled : upright(scaled, orientation);
  const drawn = new photon.PhotonImage(turned.data, turned.width, turned.height);
  const { width: wide, height: high } = turned;
  for (const quality of JPEG_QUALITIES) {
    const data = drawn.get_bytes_jpeg(quality);
    if (data.length <= maxBytes) {
      return { mediaType: 'image/jpeg', data, width: wide, height: high };
    }
  }
  throw new RefusedPicture('it stays too large, however it is written');
}

/** A JPEG has no transparency, and what is under it may have any colour. Changes the pixels in place. */
function onWhite(pixels: Uint8Array): Uint8Array {
  for (let at = 3; at < pixels.length; at += 4) {
    const alpha = pixels[at] ?? 255;
    if (alpha === 255) continue;
    for (let color = at - 3; color < at; color += 1) {
      pixels[color] = ((pixels[color] ?? 0) * alpha + 255 * (255 - alpha)) / 255;
    }
  }
  return pixels;
}

/** Why a picture is not decoded, as the end of a sentence. */
class RefusedPicture extends Error {
  override readonly name = 'Refused';
}

await answerParent((input) =>
  read(input).then(
    (value) => ({ value }),
    // The decoder ends with a trap that tells nothing.
    (error: unknown) => ({
      error:
        error instanceof RefusedPicture
          ? error.message
          : 'it is damaged, or too large to be decoded here',
    }),
  ),
);

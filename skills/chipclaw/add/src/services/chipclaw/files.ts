import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Device } from './device.ts';

/** A part of a file, in bytes. As base64, with its frame, it fits into a line of the device. */
const PART_BYTES = 3_072;
/** A larger file takes minutes on a line. */
export const MAX_FILE_BYTES = 1_048_576;

const Place = z.object({ at: z.int().nonnegative() });
const Stat = z.object({ size: z.int().nonnegative().nullable(), sha256: z.string().nullable() });
const Part = z.object({ data: z.base64() });

/** A file for a device. */
export type DeviceFile = { readonly path: string; readonly bytes: Uint8Array };

/** Returns the digest by which both ends know a file. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Tells the digest of a file on the device; null where there is none. */
export async function digestOn(device: Device, path: string, signal: AbortSignal) {
  return Stat.parse(await device.call('_stat', { path }, signal)).sha256;
}

/** Brings one file onto a device, beside the old one and only then in its place. A transfer that was cut goes on. */
export async function pushFile(device: Device, file: DeviceFile, signal: AbortSignal) {
  await upload(device, file, signal);
  await end(device, file, signal);
}

const end = (device: Device, { path, bytes }: DeviceFile, signal: AbortSignal) =>
  device.call('_end', { path, sha256: digestOf(bytes), size: bytes.length }, signal);

/**
 * Brings files onto a device as a set: all of them beside those that are there, each checked; then all get their names, or
 * none, whenever the power goes. A device whose programs do not know sets yet gets them one after the other.
 *
 * @throws Error in words: none of the files is half there
 */
export async function pushSet(
  device: Device,
  files: readonly DeviceFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) await upload(device, file, signal);
  for (const [at, { path, bytes }] of files.entries()) {
    const staged = { path, sha256: digestOf(bytes), size: bytes.length, at };
    const isOld = await device.call('_stage', staged, signal).then(() => false, isUnknownCall);
    if (!isOld) continue;
    for (const file of files) await end(device, file, signal);
    return;
  }
  await device.call('_swap', { count: files.length }, signal);
}

function isUnknownCall(error: unknown): true {
  if (error instanceof Error && error.message.includes('no such call')) return true;
  throw error;
}

async function upload(
  device: Device,
  { path, bytes }: DeviceFile,
  signal: AbortSignal,
): Promise<void> {
  const sha256 = digestOf(bytes);
  const size = bytes.length;
  let { at } = Place.parse(await device.call('_begin', { path, size, sha256 }, signal));
  while (at < size) {
    const data = Buffer.from(bytes.subarray(at, at + PART_BYTES)).toString('base64');
    const taken = await device
      .call('_chunk', { path, sha256, at, data }, signal)
      .catch((cause: unknown) => {
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new Error(
          `${message} At least ${at} of ${size} bytes of ${path} are there, beside the old file, which stays. ` +
            'The next attempt goes on from there.',
          { cause },
        );
      });
    const next = Place.parse(taken).at;
    if (next <= at || next > size) throw new Error(`${device.name} lost its place in ${path}.`);
    at = next;
  }
}

/** Fetches a file from a device, and checks it. @throws Error in words */
export async function pullFile(
  device: Device,
  path: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { size, sha256 } = Stat.parse(await device.call('_stat', { path }, signal));
  if (size === null) throw new Error(`${device.name} has no file ${path}.`);
  if (size > MAX_FILE_BYTES) throw new Error(`${path} has ${size} bytes, too many for the line.`);
  const parts: Buffer[] = [];
  for (let at = 0; at < size; ) {
    const { data } = Part.parse(await device.call('_read', { path, at }, signal));
    const part = Buffer.from(data, 'base64');
    if (part.length === 0) break;
    parts.push(part);
    at += part.length;
  }
  const bytes = Buffer.concat(parts);
  if (digestOf(bytes) === sha256) return bytes;
  throw new Error(`${path} changed while it was fetched. Fetch it again.`);
}

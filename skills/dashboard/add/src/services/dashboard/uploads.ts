import type { ServiceContext } from '../../host/contracts/service.ts';
import { ApiProblem } from './api.ts';

/** Files on their way from browsers, which send them in parts: one request brings no more than it can on a slow line. */
export interface Uploads {
  /**
   * Adds a part to a file.
   *
   * @param key names the file, and the browser that sends it
   * @returns the bytes that are here; a part that is not the next one changes nothing
   * @throws Error in words where the file or all files together are too large
   */
  add(key: string, at: number, part: Uint8Array): number;
  /** Takes a file out; null where there is none. */
  take(key: string): Uint8Array | null;
}

export const MAX_PART_BYTES = 262_144;
const MAX_FILE_BYTES = 20_000_000;
/** Of all files that are on their way, in memory. */
const MAX_BYTES = 100_000_000;
/** However small they are. */
const MAX_FILES = 200;
const KEPT_MS = 300_000;

type Upload = { readonly parts: Uint8Array[]; sizeBytes: number; cancel: () => void };

export function openUploads({ setTimer }: Pick<ServiceContext, 'setTimer'>): Uploads {
  const uploads = new Map<string, Upload>();

  function forget(key: string): void {
    uploads.get(key)?.cancel();
    uploads.delete(key);
  }

  return {
    add(key, at, part) {
      const upload = uploads.get(key) ?? { parts: [], sizeBytes: 0, cancel: () => {} };
      if (at !== upload.sizeBytes) return upload.sizeBytes;
      const all = [...uploads.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (upload.sizeBytes + part.length > MAX_FILE_BYTES) {
        forget(key);
        throw new ApiProblem(`A file may have ${MAX_FILE_BYTES / 1e6} MB at most.`, 'large-file');
      }
      const isTooMany = uploads.size >= MAX_FILES && !uploads.has(key);
      if (isTooMany || all + part.length > MAX_BYTES) {
        throw new ApiProblem(
          'Too many files are on their way. Try again in a minute.',
          'many-files',
        );
      }
      upload.cancel();
      if (part.length > 0) upload.parts.push(part);
      upload.sizeBytes += part.length;
      // A browser that has left does not come back for it.
      upload.cancel = setTimer(KEPT_MS, () => uploads.delete(key));
      uploads.set(key, upload);
      return upload.sizeBytes;
    },
    take(key) {
      const upload = uploads.get(key);
      forget(key);
      return upload === undefined ? null : Buffer.concat(upload.parts);
    },
  };
}

import { createHash } from 'node:crypto';

/** A SHA-256 as `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

export function digestBytes(bytes: Buffer | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

import type { Digest } from '../digest.ts';

/** The required content of a target before a step; null means that nothing is there. */
export type Fingerprint = { readonly digest: Digest; readonly isExecutable: boolean } | null;

/**
 * One change of the project folder, `.claw/` included. Paths are relative to the project's root.
 *
 * `swap` replaces a whole folder by one that was prepared inside the transaction's own folder
 * (null takes the folder away): `node_modules`, or the first `.claw/base`.
 */
export type Step =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly bytes: Buffer;
      readonly isExecutable: boolean;
      readonly before: Fingerprint;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly before: NonNullable<Fingerprint> }
  | { readonly kind: 'swap'; readonly path: string; readonly prepared: string | null };

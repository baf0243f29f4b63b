import { fromSeed } from '@nats-io/nkeys';
import { z } from 'zod';

const Parts = z.tuple([
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/),
  z.string().min(1).max(253),
  z.number().int().min(1).max(65_535),
  z.string().regex(/^SU[A-Z2-7]{56}$/),
  z.string().max(4_000),
]);

/** What a machine needs to join: where, whom to trust there, and a key that can only enrol. */
export type JoinCode = {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly seed: string;
  /** The server's certificate, or of who signed it, in PEM; empty where the system trusts it. */
  readonly certificate: string;
};

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** The code that is printed here and typed there. */
export const joinCode = {
  write({ name, host, port, seed, certificate }: JoinCode): string {
    const der = certificate.replace(BEGIN, '').replace(END, '').replace(/\s/g, '');
    return Buffer.from(JSON.stringify([name, host, port, seed, der])).toString('base64url');
  },
  /** Reads a code; null for what is none. */
  read(text: string): JoinCode | null {
    try {
      const bytes = Buffer.from(text.trim(), 'base64url');
      const [name, host, port, seed, der] = Parts.parse(JSON.parse(bytes.toString()));
      const lines = der.match(/.{1,64}/g) ?? [];
      const certificate = der === '' ? '' : [BEGIN, ...lines, END, ''].join('\n');
      return { name, host, port, seed, certificate };
    } catch {
      // Cut off or mistyped.
      return null;
    }
  },
  publicKeyOf: (seed: string): string => fromSeed(new TextEncoder().encode(seed)).getPublicKey(),
};

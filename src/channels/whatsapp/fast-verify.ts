import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createRequire } from 'node:module';
import { z } from 'zod';

const Curve = z.object({ verify: z.function() });
const PRIME = 2n ** 255n - 19n;
const HIGH_BIT = 0x80;
const KEPT_KEYS = 1_000;

/**
 * Has libsignal check signatures with Node's own Ed25519 instead of one in JavaScript, which takes longer
 * than everything else that is done for a message of a group.
 *
 * Calling it again changes nothing; where libsignal is built otherwise than it is now, nothing changes.
 */
export function speedUpLibsignal(baileysUrl: string): void {
  try {
    const libsignal = createRequire(baileysUrl).resolve('libsignal');
    const curve: unknown = createRequire(libsignal)('curve25519-js');
    if (Curve.safeParse(curve).success) Object.assign(curve as object, { verify: verifyXEdDsa });
  } catch {
    // Then libsignal checks them itself, and slowly.
  }
}

const keys = new Map<string, KeyObject>();

/**
 * Checks an XEdDSA signature: the key is one for X25519, and the sign that it lacks is in the signature.
 *
 * @param key 32 bytes
 * @param signature 64 bytes
 * Source: Perrin: The XEdDSA and VXEdDSA Signature Schemes (2016), 2.3 and 4
 */
export function verifyXEdDsa(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const last = signature[63] ?? 0;
  const plain = Uint8Array.from(signature);
  plain[63] = last & ~HIGH_BIT;
  return verify(null, message, edwardsKey(key, last & HIGH_BIT), plain);
}

function edwardsKey(key: Uint8Array, sign: number): KeyObject {
  const name = `${Buffer.from(key).toString('base64')}${sign}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  const bytes = edwardsPoint(key);
  bytes[31] = (bytes[31] ?? 0) | sign;
  const x = Buffer.from(bytes).toString('base64url');
  const made = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const [oldest] = keys.keys();
  if (keys.size >= KEPT_KEYS && oldest !== undefined) keys.delete(oldest);
  keys.set(name, made);
  return made;
}

/** From a point's u on the Montgomery curve to its y on the Edwards curve: (u − 1) / (u + 1). */
function edwardsPoint(key: Uint8Array): Uint8Array {
  const littleEndian = Buffer.from(key).reverse();
  const u = BigInt(`0x${littleEndian.toString('hex')}`) & ((1n << 255n) - 1n);
  const y = (mod(u - 1n) * inverse(mod(u + 1n))) % PRIME;
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
}

function mod(value: bigint): bigint {
  return ((value % PRIME) + PRIME) % PRIME;
}

/** By Fermat: value^(p − 2). Zero has none, and gives zero. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let base = value;
  for (let exponent = PRIME - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

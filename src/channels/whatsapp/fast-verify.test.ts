import { createRequire } from 'node:module';
import { Curve } from '@whiskeysockets/baileys';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { speedUpLibsignal, verifyXEdDsa } from './fast-verify.ts';

const baileys = import.meta.resolve('@whiskeysockets/baileys');
const libsignal = createRequire(baileys).resolve('libsignal');
const curve = createRequire(libsignal)('curve25519-js');
const slow: typeof verifyXEdDsa = curve.verify;

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test('what was signed is taken and anything else is not, as libsignal does', () => {
  const damaged = fc.record({ at: fc.nat(63), bit: fc.nat(7) });
  fc.assert(
    fc.property(bytes(32), fc.uint8Array(), damaged, (seed, message, { at, bit }) => {
      const pair = curve.generateKeyPair(seed);
      const signature: Uint8Array = curve.sign(pair.private, message);
      expect(verifyXEdDsa(pair.public, message, signature)).toBe(true);
      const other = Uint8Array.from(signature);
      other[at] = (other[at] ?? 0) ^ (1 << bit);
      expect(verifyXEdDsa(pair.public, message, other)).toBe(slow(pair.public, message, other));
      expect(verifyXEdDsa(pair.public, Buffer.concat([message, Buffer.of(1)]), signature)).toBe(
        false,
      );
    }),
    { numRuns: 15 },
  );
});

test('no bytes pass for a signature that libsignal would not take', () => {
  fc.assert(
    fc.property(bytes(32), fc.uint8Array(), bytes(64), (key, message, signature) => {
      expect(verifyXEdDsa(key, message, signature)).toBe(false);
    }),
    { numRuns: 100 },
  );
  // The points that have no inverse, and those of small order.
  for (const u of [0, 1]) {
    const key = Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? u : 0));
    expect(verifyXEdDsa(key, Buffer.of(1), new Uint8Array(64).fill(1))).toBe(false);
  }
  const minusOne = Uint8Array.from(
    { length: 32 },
    (_, index) => [0xec, 0x7f][Math.sign(index && index - 30)] ?? 0xff,
  );
  expect(verifyXEdDsa(minusOne, Buffer.of(1), new Uint8Array(64).fill(1))).toBe(false);
});

test('libsignal uses it', () => {
  speedUpLibsignal(baileys);
  expect(curve.verify).toBe(verifyXEdDsa);
  const { private: secret, public: open } = Curve.generateKeyPair();
  const signature = Curve.sign(secret, Buffer.from('hello'));
  expect(verifyXEdDsa(Buffer.from(open), Buffer.from('hello'), signature)).toBe(true);
});

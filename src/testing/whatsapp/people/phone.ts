import { randomBytes } from 'node:crypto';
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  Curve,
  derivePairingCodeKey,
  hkdf,
  hmacSign,
  proto,
  WA_ADV_ACCOUNT_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import { Peer } from './peer.ts';
import type { ReadMessage } from './person.ts';

/** Contents of a QR code: a reference for the answer, and the keys of the device that shows it. */
export type ScannedCode = {
  readonly ref: string;
  readonly noiseKey: Buffer;
  readonly identityKey: Buffer;
  readonly advSecret: Buffer;
};

/**
 * The phone that owns the account. It vouches for a companion device with its identity key, by ADV
 * signatures whose secret comes from the QR code, or from a key exchange under the typed code.
 */
export class Phone extends Peer {
  /** Messages from the device under test as the owner sees them on the phone, each with its chat. */
  readonly heard: ReadMessage[] = [];
  #pairing: { readonly shared: Buffer } | null = null;

  /** Reads a QR code as the camera does. */
  scan(qr: string): ScannedCode {
    const [ref, noiseKey, identityKey, advSecret] = qr.slice(qr.indexOf('#') + 1).split(',');
    if (!ref || !noiseKey || !identityKey || !advSecret) throw new Error(`no pairing code: ${qr}`);
    return {
      ref,
      noiseKey: Buffer.from(noiseKey, 'base64'),
      identityKey: Buffer.from(identityKey, 'base64'),
      advSecret: Buffer.from(advSecret, 'base64'),
    };
  }

  /**
   * The owner typed the code that the device shows.
   *
   * @param wrapped the device's ephemeral key, encrypted under the code
   * @returns the phone's own, encrypted under the code
   */
  async enterCode(code: string, wrapped: Buffer): Promise<Buffer> {
    const open = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
    const theirs = aesDecryptCTR(wrapped.subarray(48, 80), open, wrapped.subarray(32, 48));
    const ephemeral = Curve.generateKeyPair();
    this.#pairing = { shared: Curve.sharedKey(ephemeral.private, theirs) };
    const salt = randomBytes(32);
    const iv = randomBytes(16);
    const close = await derivePairingCodeKey(code, salt);
    return Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, close, iv)]);
  }

  /** The device's answer to `enterCode`. @returns its identity key, and the secret that both know now */
  finishCode(bundle: Buffer): Pick<ScannedCode, 'identityKey' | 'advSecret'> {
    if (this.#pairing === null) throw new Error('no code was entered');
    const { shared } = this.#pairing;
    const info = 'link_code_pairing_key_bundle_encryption_key';
    const key = hkdf(shared, 32, { salt: bundle.subarray(0, 32), info });
    const iv = bundle.subarray(32, 44);
    const opened = aesDecryptGCM(bundle.subarray(44), key, iv, Buffer.alloc(0));
    const identityKey = opened.subarray(0, 32);
    const random = opened.subarray(64, 96);
    const own = Curve.sharedKey(this.creds.signedIdentityKey.private, identityKey);
    const secret = hkdf(Buffer.concat([shared, own, random]), 32, { info: 'adv_secret' });
    return { identityKey, advSecret: Buffer.from(secret) };
  }

  /** The signed word that the device with this identity key belongs to the account. */
  vouch({ identityKey, advSecret }: Pick<ScannedCode, 'identityKey' | 'advSecret'>): Uint8Array {
    const timestamp = Math.floor(Date.now() / 1000);
    const identity = { rawId: 1, timestamp, keyIndex: 1 };
    const details = proto.ADVDeviceIdentity.encode(identity).finish();
    const { signedIdentityKey } = this.creds;
    const signed = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, identityKey]);
    const account = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: signedIdentityKey.public,
      accountSignature: Curve.sign(signedIdentityKey.private, signed),
    }).finish();
    const hmac = hmacSign(Buffer.from(account), advSecret);
    return proto.ADVSignedDeviceIdentityHMAC.encode({ details: account, hmac }).finish();
  }
}

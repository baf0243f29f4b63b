import { createCipheriv, createDecipheriv } from 'node:crypto';
import {
  Curve,
  hkdf,
  type KeyPair,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
} from '@whiskeysockets/baileys';
import { certificateChain } from './certificate.ts';

const TAG_BYTES = 16;

/** The client's description of itself in the handshake. */
export type ClientHello = {
  readonly payload: proto.ClientPayload;
  /** The client's long-lived key, which tells one device from another. */
  readonly staticKey: Uint8Array;
};

/**
 * The server's side of WhatsApp's handshake, Noise_XX_25519_AESGCM_SHA256, and the cipher after it.
 *
 * `greet` answers the client's first message, `finish` reads its second; from then on `encrypt` and
 * `decrypt` carry the binary nodes. Source: The Noise Protocol Framework, revision 34, section 7.5.
 */
export class ServerNoise {
  readonly #staticKey: KeyPair;
  readonly #ephemeral = Curve.generateKeyPair();
  #hash: Uint8Array = Buffer.from(NOISE_MODE);
  #salt: Uint8Array = this.#hash;
  #key: Uint8Array = this.#hash;
  #counter = 0;
  #transport: { readonly read: Cipher; readonly write: Cipher } | null = null;

  constructor(staticKey: KeyPair) {
    this.#staticKey = staticKey;
    this.#mixHash(NOISE_WA_HEADER);
  }

  get isOpen(): boolean {
    return this.#transport !== null;
  }

  greet(frame: Uint8Array): Uint8Array {
    const { clientHello } = proto.HandshakeMessage.decode(frame);
    const theirs = required(clientHello?.ephemeral, 'clientHello.ephemeral');
    this.#mixHash(theirs);
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    const sealedStatic = this.#seal(this.#staticKey.public);
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, theirs));
    const payload = this.#seal(certificateChain(this.#staticKey.public));
    const serverHello = { ephemeral: this.#ephemeral.public, static: sealedStatic, payload };
    return proto.HandshakeMessage.encode({ serverHello }).finish();
  }

  finish(frame: Uint8Array): ClientHello {
    const { clientFinish } = proto.HandshakeMessage.decode(frame);
    const staticKey = this.#unseal(required(clientFinish?.static, 'clientFinish.static'));
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, staticKey));
    const payload = this.#unseal(required(clientFinish?.payload, 'clientFinish.payload'));
    const [read, write] = this.#derive(new Uint8Array(0));
    this.#transport = { read: new Cipher(read), write: new Cipher(write) };
    return { payload: proto.ClientPayload.decode(payload), staticKey };
  }

  encrypt(plain: Uint8Array): Uint8Array {
    return required(this.#transport, 'transport').write.encrypt(plain);
  }

  decrypt(sealed: Uint8Array): Uint8Array {
    return required(this.#transport, 'transport').read.decrypt(sealed);
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #mixKey(secret: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(secret);
    this.#counter = 0;
  }

  #derive(secret: Uint8Array): readonly [Uint8Array, Uint8Array] {
    const bytes = hkdf(Buffer.from(secret), 64, { salt: Buffer.from(this.#salt), info: '' });
    return [bytes.subarray(0, 32), bytes.subarray(32)];
  }

  #seal(plain: Uint8Array): Uint8Array {
    const sealed = seal({ key: this.#key, counter: this.#counter++, data: plain, aad: this.#hash });
    this.#mixHash(sealed);
    return sealed;
  }

  #unseal(sealed: Uint8Array): Uint8Array {
    const plain = unseal({
      key: this.#key,
      counter: this.#counter++,
      data: sealed,
      aad: this.#hash,
    });
    this.#mixHash(sealed);
    return plain;
  }
}

/** One direction after the handshake. */
class Cipher {
  readonly #key: Uint8Array;
  #counter = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  encrypt(data: Uint8Array): Uint8Array {
    return seal({ key: this.#key, counter: this.#counter++, data, aad: new Uint8Array(0) });
  }

  decrypt(data: Uint8Array): Uint8Array {
    return unseal({ key: this.#key, counter: this.#counter++, data, aad: new Uint8Array(0) });
  }
}

type Box = {
  readonly key: Uint8Array;
  readonly counter: number;
  readonly data: Uint8Array;
  readonly aad: Uint8Array;
};

function seal({ key, counter, data, aad }: Box): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(counter)).setAAD(aad);
  return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
}

function unseal({ key, counter, data, aad }: Box): Uint8Array {
  const end = data.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce(counter)).setAAD(aad);
  decipher.setAuthTag(data.subarray(end));
  return Buffer.concat([decipher.update(data.subarray(0, end)), decipher.final()]);
}

function nonce(counter: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}

function required<T>(value: T | null | undefined, name: string): T {
  if (value === null || value === undefined) throw new Error(`the handshake lacks ${name}`);
  return value;
}

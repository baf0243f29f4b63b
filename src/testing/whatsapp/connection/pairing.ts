import type { BinaryNode } from '@whiskeysockets/baileys';
import { bytesOf, childOf, node, resultOf, SERVER } from '../node.ts';
import type { Account } from '../people/account.ts';
import type { ScannedCode } from '../people/phone.ts';
import type { Line } from './line.ts';

const CODES = 6;

/**
 * Pairing of one connection: hands out references for QR codes, lets the phone answer one of them or
 * the typed code, and ends with the restart that the device must follow.
 */
export class Pairing {
  readonly #account: Account;
  readonly #line: Line;
  readonly #staticKey: Uint8Array;
  readonly #hello = Promise.withResolvers<Buffer>();

  constructor(account: Account, line: Line, staticKey: Uint8Array) {
    this.#account = account;
    this.#line = line;
    this.#staticKey = staticKey;
  }

  begin(): void {
    const refs = Array.from({ length: CODES }, (_, index) =>
      node('ref', {}, Buffer.from(`2@${index}`)),
    );
    const attrs = { id: 'pair', type: 'set', from: SERVER, xmlns: 'md' };
    this.#line.send(node('iq', attrs, [node('pair-device', {}, refs)]));
  }

  /** The owner holds the phone's camera to the code. */
  scan(qr: string): void {
    this.#confirm(this.#account.phone.scan(qr));
  }

  /** The owner types the code on the phone, once the device has asked for that. */
  async enterCode(code: string): Promise<void> {
    const { phone } = this.#account;
    const wrapped = await phone.enterCode(code.replace('-', ''), await this.#hello.promise);
    const attrs = { id: 'code', type: 'link_code_companion_reg', from: SERVER, t: '1' };
    const identity = phone.creds.signedIdentityKey.public;
    const content = [
      node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrapped),
      node('primary_identity_pub', {}, identity),
      node('link_code_pairing_ref', {}, Buffer.from('ref')),
    ];
    const stage = node('link_code_companion_reg', { stage: 'primary_hello' }, content);
    this.#line.send(node('notification', attrs, [stage]));
  }

  /** Answers what belongs to pairing. @returns whether it did */
  take(received: BinaryNode): boolean {
    const step = childOf(received, 'link_code_companion_reg');
    if (step !== undefined) {
      this.#takeCodeStep(received, step);
      return true;
    }
    if (childOf(received, 'pair-device-sign') === undefined) return received.attrs['id'] === 'pair';
    this.#account.paired = { staticKey: Buffer.from(this.#staticKey) };
    this.#line.send(node('stream:error', { code: '515' }));
    this.#line.close();
    return true;
  }

  #takeCodeStep(iq: BinaryNode, step: BinaryNode): void {
    if (step.attrs['stage'] === 'companion_hello') {
      const wrapped = childOf(step, 'link_code_pairing_wrapped_companion_ephemeral_pub');
      this.#hello.resolve(bytesOf(wrapped));
      this.#line.send(resultOf(iq));
      return;
    }
    this.#line.send(resultOf(iq));
    const bundle = childOf(step, 'link_code_pairing_wrapped_key_bundle');
    this.#confirm(this.#account.phone.finishCode(bytesOf(bundle)));
  }

  #confirm(code: Pick<ScannedCode, 'identityKey' | 'advSecret'>): void {
    this.#account.removeDevice();
    const { phone, devicePn, deviceLid } = this.#account;
    const content = [
      node('device-identity', {}, phone.vouch(code)),
      node('device', { jid: devicePn, lid: deviceLid }),
      node('platform', { name: 'android' }),
    ];
    const attrs = { id: 'paired', type: 'set', from: SERVER, xmlns: 'md' };
    this.#line.send(node('iq', attrs, [node('pair-success', {}, content)]));
  }
}

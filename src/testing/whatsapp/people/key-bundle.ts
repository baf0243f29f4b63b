import {
  type BinaryNode,
  encodeBigEndian,
  generateSignalPubKey,
  KEY_BUNDLE_TYPE,
  type KeyPair,
  type SignedKeyPair,
  xmppPreKey,
  xmppSignedPreKey,
} from '@whiskeysockets/baileys';
import { bytesOf, childOf, childrenOf, node } from '../node.ts';

/** Keys that start a Signal session with a device, as Baileys takes them. */
export type KeyBundle = {
  readonly registrationId: number;
  readonly identityKey: Uint8Array;
  readonly signedPreKey: PublicPreKey & { readonly signature: Uint8Array };
  readonly preKey: PublicPreKey;
};

type PublicPreKey = { readonly keyId: number; readonly publicKey: Uint8Array };

/** The keys that a device has left with the server; one-time keys are given out once. */
export type UploadedKeys = Omit<KeyBundle, 'preKey'> & { readonly preKeys: PublicPreKey[] };

/** Reads what `encrypt/set` uploads. */
export function readUpload(iq: BinaryNode): UploadedKeys {
  const signed = childOf(iq, 'skey');
  return {
    registrationId: bytesOf(childOf(iq, 'registration')).readUIntBE(0, 4),
    identityKey: generateSignalPubKey(bytesOf(childOf(iq, 'identity'))),
    signedPreKey: { ...preKeyIn(signed), signature: bytesOf(childOf(signed, 'signature')) },
    preKeys: childrenOf(childOf(iq, 'list'), 'key').map(preKeyIn),
  };
}

function preKeyIn(key: BinaryNode | undefined): PublicPreKey {
  return {
    keyId: bytesOf(childOf(key, 'id')).readUIntBE(0, 3),
    publicKey: generateSignalPubKey(bytesOf(childOf(key, 'value'))),
  };
}

/** Returns the next one-time key with everything that goes with it. */
export function takeBundle(keys: UploadedKeys): KeyBundle {
  const preKey = keys.preKeys.shift();
  if (preKey === undefined) throw new Error('the device has no one-time keys left on the server');
  const { registrationId, identityKey, signedPreKey } = keys;
  return { registrationId, identityKey, signedPreKey, preKey };
}

/** Returns the answer to `encrypt/get` for one device. */
export function bundleNode(jid: string, device: DeviceKeys): BinaryNode {
  return node('user', { jid }, [
    node('registration', {}, encodeBigEndian(device.registrationId)),
    node('type', {}, KEY_BUNDLE_TYPE),
    node('identity', {}, device.identity.public),
    xmppSignedPreKey(device.signedPreKey),
    xmppPreKey(device.preKey, device.preKeyId),
  ]);
}

/** Keys of a simulated device, private halves included. */
export type DeviceKeys = {
  readonly registrationId: number;
  readonly identity: KeyPair;
  readonly signedPreKey: SignedKeyPair;
  readonly preKeyId: number;
  readonly preKey: KeyPair;
};

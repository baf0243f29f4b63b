import { Curve, proto, WA_CERT_DETAILS } from '@whiskeysockets/baileys';

const root = Curve.generateKeyPair();
const intermediate = Curve.generateKeyPair();

/** Makes this process believe our root in place of WhatsApp's own, which signs only WhatsApp's servers. */
export function trustTestRoot(): void {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(root.public);
}

/** Returns the chain that vouches for a server's key, as the handshake carries it. */
export function certificateChain(serverKey: Uint8Array): Uint8Array {
  const { NoiseCertificate } = proto.CertChain;
  const leaf = NoiseCertificate.Details.encode({ serial: 2, issuerSerial: 1, key: serverKey });
  const issuer = NoiseCertificate.Details.encode({
    serial: 1,
    issuerSerial: WA_CERT_DETAILS.SERIAL,
    key: intermediate.public,
  });
  return proto.CertChain.encode({
    leaf: signed(leaf.finish(), intermediate.private),
    intermediate: signed(issuer.finish(), root.private),
  }).finish();
}

function signed(details: Uint8Array, key: Uint8Array) {
  return { details, signature: Curve.sign(key, details) };
}

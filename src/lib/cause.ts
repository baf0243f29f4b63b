const CLOCK = 'look at the clock of this machine';
const OFFLINE = 'this machine seems to be offline';
const SIGNER = 'this machine does not know who signed the certificate there; check the address';
const NO_TLS = 'what listens there speaks no TLS; it may be http:// in place of https://';
const CUT = 'the line was cut';
const LATE = 'no answer came in time; check the address, and whether a firewall is in between';

/** Advice for the owner, by the error code of a failed connection. It stands in brackets within a sentence. */
const LOOK_AT: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: CLOCK,
  CERT_NOT_YET_VALID: CLOCK,
  DEPTH_ZERO_SELF_SIGNED_CERT: SIGNER,
  EAI_AGAIN: OFFLINE,
  ECONNREFUSED: 'nothing listens there; check the address, and whether the server runs',
  ECONNRESET: CUT,
  EHOSTUNREACH: OFFLINE,
  ENETUNREACH: OFFLINE,
  ENOTFOUND:
    'there is no server of that name; check how it is written, and whether this machine is online',
  EPROTO: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; check the address',
  ETIMEDOUT: LATE,
  SELF_SIGNED_CERT_IN_CHAIN: SIGNER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: SIGNER,
  UND_ERR_CONNECT_TIMEOUT: LATE,
  UND_ERR_SOCKET: CUT,
};

/** Adds advice for the owner to the code of a failure; most codes speak for themselves. */
export function causeInWords(code: string): string {
  const lookAt = LOOK_AT[code];
  return lookAt === undefined ? code : `${code}: ${lookAt}`;
}

/** Returns the code of a request that failed in `fetch`; null if it has none, as after a timeout. */
export function codeOf(error: unknown): string | null {
  const inner = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  return inner instanceof Error && 'code' in inner && typeof inner.code === 'string'
    ? inner.code
    : null;
}

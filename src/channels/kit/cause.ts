/** Codes with which a line ends because a certificate is not yet, or no longer, valid at this machine's time. */
const TIMES = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** Adds to the code of a failure what the owner can look at; most codes say it themselves. */
export function causeInWords(code: string): string {
  return TIMES.has(code) ? `${code}: is the clock of this machine right?` : code;
}

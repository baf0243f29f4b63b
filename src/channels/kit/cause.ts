const CLOCK = 'is the clock of this machine right?';
const OFFLINE = 'is this machine online?';

/** What the owner can look at, by the code with which a connection fails. */
const LOOK_AT: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: CLOCK,
  CERT_NOT_YET_VALID: CLOCK,
  EAI_AGAIN: OFFLINE,
  ECONNREFUSED: 'nothing listens there. Is the address right, and the server running?',
  EHOSTUNREACH: OFFLINE,
  ENETUNREACH: OFFLINE,
  ENOTFOUND: 'there is no server of that name. Is it written right, and this machine online?',
};

/** Adds to the code of a failure what the owner can look at; most codes say it themselves. */
export function causeInWords(code: string): string {
  const lookAt = LOOK_AT[code];
  return lookAt === undefined ? code : `${code}: ${lookAt}`;
}

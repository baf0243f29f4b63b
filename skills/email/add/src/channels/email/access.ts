import { domainOf } from './addresses.ts';
import type { EmailAccount } from './settings.ts';

const EVERYBODY = '*';

/** Tells whether an address may write: it is listed, its domain is, or everybody is. */
export function mayWrite(allowFrom: readonly string[], address: string): boolean {
  return allowFrom.includes(EVERYBODY) || isListed(allowFrom, address);
}

/** Tells whether the list names the address itself. */
export function isNamed(allowFrom: readonly string[], address: string): boolean {
  return allowFrom.includes(address);
}

/** Returns the reason why the account cannot be used, with the line to add to `.env`; null for none. */
export function accountProblem(account: EmailAccount): string | null {
  return allowListProblem(account.allowFrom) ?? checkProblem(account);
}

/** Returns the reason why the list cannot be used; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length === 0) {
    return 'Nobody is allowed to write by mail yet. Add EMAIL_ALLOW_FROM=<your mail address> to .env and restart.';
  }
  const odd = allowFrom.find((entry) => entry !== EVERYBODY && !/^[^\s@]*@[^\s@]+$/.test(entry));
  return odd === undefined
    ? null
    : `EMAIL_ALLOW_FROM holds "${odd}", which is no mail address. Write ada@example.org, @example.org for all of a domain, or *.`;
}

function checkProblem({ checksSenders, authservId }: EmailAccount): string | null {
  if (!checksSenders || authservId !== null) return null;
  return (
    'Anybody can write any sender on a mail. Add EMAIL_AUTHSERV_ID=<the name in the Authentication-Results of your ' +
    'mail server> to .env and restart; `npx claw setup email` finds it.'
  );
}

function isListed(allowFrom: readonly string[], address: string): boolean {
  return isNamed(allowFrom, address) || allowFrom.includes(`@${domainOf(address)}`);
}

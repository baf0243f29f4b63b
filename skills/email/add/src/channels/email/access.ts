import { allowListRule, isAllowed } from '../kit/allow-list.ts';
import { domainOf } from './addresses.ts';
import type { EmailAccount } from './settings.ts';

/** Tells whether an address may write: it is listed, its domain is, or everybody is. */
export function mayWrite(allowFrom: readonly string[], address: string): boolean {
  return isAllowed(allowFrom, address) || allowFrom.includes(`@${domainOf(address)}`);
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
export const allowListProblem = allowListRule({
  name: 'EMAIL_ALLOW_FROM',
  purpose: 'write by mail',
  example: '<your mail address>',
  entries: {
    isValid: (entry) => /^[^\s@]*@[^\s@]+$/.test(entry),
    otherwise: 'no mail address',
    form: 'addresses such as ada@example.org, or @example.org for all of a domain,',
  },
});

function checkProblem({ checksSenders, authservId }: EmailAccount): string | null {
  if (!checksSenders || authservId !== null) return null;
  return (
    'Anybody can write any sender on a mail. Add EMAIL_AUTHSERV_ID=<the name in the Authentication-Results of your ' +
    'mail server> to .env and restart; `npx claw setup email` finds it.'
  );
}

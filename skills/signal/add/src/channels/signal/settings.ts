import { z } from 'zod';
import { Address, NameList } from '../../lib/setting-values.ts';
import { addressIn } from './jid.ts';

/** A person as the owner writes them: a phone number with its country, or the id that Signal gives an account. */
const Person = z
  .string()
  .trim()
  .transform((typed) => addressIn(typed) ?? typed)
  .refine((typed) => addressIn(typed) !== null, 'a phone number such as +4915112345678, or a UUID');

/** signal-cli names an account by its number in every event. */
const Account = z
  .string()
  .trim()
  .refine(
    (typed) => addressIn(typed)?.startsWith('+') === true,
    'a phone number such as +4915112345678',
  );

/** Settings of the owner for Signal. */
export const SignalEnvironment = z.object({
  SIGNAL_ACCOUNT: Account.optional(),
  SIGNAL_ALLOW_FROM: NameList.transform((list) => list.map((entry) => addressIn(entry) ?? entry)),
  SIGNAL_CLI_URL: Address.default('http://127.0.0.1:8080').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
  SIGNAL_OWNER: Person.optional(),
});

/** The assistant's account, and the signal-cli that holds it. */
export type SignalSettings = {
  /** The number of the account: `+4915112345678`. */
  readonly account: string;
  /** Numbers, UUIDs, or `*`; the owner is among them. */
  readonly allowFrom: readonly string[];
  /** The owner's number or UUID, if their own chat is one of the assistant's main chats. */
  readonly owner: string | null;
  /** Address of signal-cli's HTTP server, without a slash at the end. */
  readonly url: string;
};

/** Returns the account; null where none is set. */
export function accountOf(settings: z.output<typeof SignalEnvironment>): SignalSettings | null {
  const { SIGNAL_ACCOUNT: account, SIGNAL_ALLOW_FROM: listed } = settings;
  const { SIGNAL_CLI_URL: url, SIGNAL_OWNER: owner = null } = settings;
  const allowFrom = owner === null ? listed : [...new Set([...listed, owner])];
  return account === undefined ? null : { account, allowFrom, owner, url };
}

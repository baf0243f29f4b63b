import { z } from 'zod';
import { HttpFailure } from '../kit/http.ts';
import { unknownAccount } from './failure.ts';
import { type CallRpc, RPC_CODES, RpcError, rpcAt } from './rpc.ts';

const Accounts = z.array(z.looseObject({ number: z.string() }));

/** The signal-cli at an address, with the accounts that it has; or why there is none, and what to do. */
export type Found =
  | { readonly ok: true; readonly call: CallRpc; readonly accounts: readonly string[] }
  | { readonly ok: false; readonly message: string };

const START = '`signal-cli daemon --http --receive-mode=on-connection`';

/** Looks for a signal-cli, and asks it for its accounts. */
export async function findSignalCli(url: string, timeoutMs: number): Promise<Found> {
  try {
    const listed = await rpcAt(url, timeoutMs)('listAccounts', {});
    const accounts = Accounts.parse(listed).map(({ number }) => number);
    return { ok: true, call: rpcAt(url), accounts };
  } catch (error) {
    return { ok: false, message: reasonOf(error) };
  }
}

/** Returns what is wrong with an account; null for nothing. */
export function accountProblem(accounts: readonly string[], account: string): string | null {
  if (accounts.includes(account)) return null;
  const others = accounts.length === 0 ? '' : ` It has ${accounts.join(', ')}.`;
  return `${unknownAccount(account)}${others}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RpcError && error.code === RPC_CODES.methodNotFound) {
    return `This signal-cli runs for one account, and tells nothing of it. Start it without -a: ${START}.`;
  }
  if (error instanceof HttpFailure && error.status === null) {
    return `signal-cli cannot be reached (${error.message}). Start it with ${START}.`;
  }
  return 'What answers at this address is not signal-cli, or an old one: it takes version 0.12 or newer.';
}

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isInnerAddress } from '../../lib/inner-address.ts';
import { causeInWords, codeOf } from '../kit/cause.ts';

const TIMEOUT_MS = 20_000;
/** Telegram delivers to no other ports. */
const PORTS = ['', '443', '80', '88', '8443'];

/** The network in which an address is tried. */
export type WebhookNetwork = {
  /** Returns every IP address of a name. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** Sends a request without the secret, and returns the status of the answer. */
  readonly post: (address: string) => Promise<number>;
};

const INTERNET: WebhookNetwork = {
  async lookup(name) {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  },
  async post(address) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(address, { method: 'POST', redirect: 'manual', signal });
    await answer.body?.cancel();
    return answer.status;
  },
};

/** The outcome of a try, as sentences for the owner. */
export type TriedAddress = { readonly ok: boolean; readonly message: string };

/**
 * Tries an address of the owner's as far as one can from this machine: whether Telegram could deliver there, and whether
 * something answers. A machine behind a router may not reach its own public address, so silence refuses nothing.
 */
export async function tryWebhookAddress(typed: string, network = INTERNET): Promise<TriedAddress> {
  const wrong = formProblem(typed);
  if (wrong !== null) return { ok: false, message: wrong };
  const { hostname, host } = new URL(typed);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const later = 'After the restart, `npx claw doctor` says whether Telegram delivers there.';
  try {
    const addresses = isIP(name) === 0 ? await network.lookup(name) : [name];
    const inner = addresses.find(isInnerAddress);
    if (inner !== undefined) {
      return {
        ok: false,
        message: `${host} leads to ${inner}, which is inside your network: Telegram cannot reach it. Type a public address, or -.`,
      };
    }
    const status = await network.post(typed);
    const isOurs = status === 401 || status === 404;
    return isOurs || status < 300
      ? { ok: true, message: `${host} answers. ${later}` }
      : { ok: true, message: `${host} answers with status ${status}. ${later}` };
  } catch (error) {
    if (isUnknownName(error)) {
      return {
        ok: false,
        message: `The name ${name} has no address. Check its spelling, or type -.`,
      };
    }
    const cause = causeInWords(codeOf(error) ?? 'no answer came in time');
    return {
      ok: true,
      message: `${host} cannot be reached from this machine (${cause}). ${later}`,
    };
  }
}

function formProblem(typed: string): string | null {
  const suchAs = 'such as https://assistant.example.org/telegram/updates';
  if (!URL.canParse(typed)) return `Type an address, ${suchAs}, or -.`;
  const { protocol, port, username, password } = new URL(typed);
  if (protocol !== 'https:') return `Telegram delivers to https addresses alone, ${suchAs}.`;
  if (!PORTS.includes(port)) return 'Telegram delivers to the ports 443, 80, 88 and 8443 alone.';
  return username === '' && password === ''
    ? null
    : 'Leave name and password out: the assistant knows Telegram by a secret of its own.';
}

function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOTFOUND';
}

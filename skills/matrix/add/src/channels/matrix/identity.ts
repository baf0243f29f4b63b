import { z } from 'zod';
import { MatrixApi, MatrixFailure, pathOf } from './api.ts';
import type { Device } from './encryption/machine.ts';
import { isTokenRefused } from './failure.ts';
import { isUserId } from './jid.ts';

const Who = z.looseObject({ user_id: z.string(), device_id: z.string().default('') });
const Profile = z.looseObject({ displayname: z.string().nullable().optional() });
const WellKnown = z.looseObject({
  'm.homeserver': z.looseObject({ base_url: z.url() }),
});
const Login = z.looseObject({ access_token: z.string() });
const Flows = z.looseObject({ flows: z.array(z.looseObject({ type: z.string() })).default([]) });

/** An account, or one sentence about why it cannot be told. */
export type Identity =
  | ({ readonly ok: true } & Device)
  | { readonly ok: false; readonly message: string };

/** Asks whose token it is. @throws MatrixFailure */
export async function askWho(api: MatrixApi): Promise<Device> {
  const { user_id: userId, device_id: deviceId } = Who.parse(
    await api.call('GET', '/account/whoami'),
  );
  return { userId, deviceId };
}

/** Returns the name that people see of an account; null for none. */
export async function displayNameOf(api: MatrixApi, userId: string): Promise<string | null> {
  try {
    const answer = await api.call('GET', pathOf`/profile/${userId}`);
    return Profile.parse(answer).displayname?.trim() || null;
  } catch (error) {
    if (isTokenRefused(error)) throw error;
    return null; // An account without a profile has no name.
  }
}

/**
 * Asks a homeserver whose token it is. Changes nothing there.
 *
 * @returns never an exception, and nothing that holds the token
 */
export async function identify(
  account: { readonly homeserver: string; readonly token: string },
  timeoutMs: number,
): Promise<Identity> {
  const { host } = new URL(account.homeserver);
  try {
    const api = new MatrixApi(account);
    const answer = await api.call('GET', '/account/whoami', { timeoutMs });
    const { user_id: userId, device_id: deviceId } = Who.parse(answer);
    return { ok: true, userId, deviceId };
  } catch (error) {
    return { ok: false, message: `${host} ${problemOf(error)}.` };
  }
}

/** The address of a homeserver's API, or one sentence about why there is none. */
export type FoundHomeserver =
  | { readonly ok: true; readonly homeserver: string }
  | { readonly ok: false; readonly message: string };

/**
 * Finds the address of the client-server API for what people call a homeserver: `example.org`.
 *
 * @returns the address, or one sentence about why there is none
 */
export async function findHomeserver(typed: string, timeoutMs: number): Promise<FoundHomeserver> {
  const named = typed.trim().replace(/\/+$/, '');
  const address = /^https?:\/\//i.test(named) ? named : `https://${named}`;
  if (!URL.canParse(address) || /\s/.test(address)) {
    return {
      ok: false,
      message: 'Write a homeserver such as matrix.org or https://matrix.example.org.',
    };
  }
  const homeserver = (await delegatedBy(address, timeoutMs)) ?? address;
  const { host } = new URL(homeserver);
  try {
    const api = new MatrixApi({ homeserver, token: null });
    Flows.parse(await api.call('GET', '/login', { timeoutMs }));
    return { ok: true, homeserver };
  } catch (error) {
    const isSilent = error instanceof MatrixFailure && error.status === null;
    const what = isSilent ? '' : 'is no homeserver: it ';
    return { ok: false, message: `${host} ${what}${problemOf(error)}.` };
  }
}

/** Follows `/.well-known/matrix/client`, by which a name leads to the server. */
async function delegatedBy(address: string, timeoutMs: number): Promise<string | null> {
  const api = new MatrixApi({ homeserver: address, token: null });
  try {
    const found = WellKnown.parse(
      await api.call('GET', '/.well-known/matrix/client', { timeoutMs }),
    );
    return found['m.homeserver'].base_url.replace(/\/+$/, '');
  } catch {
    return null; // Many servers are at the address itself.
  }
}

/**
 * Logs the account in by its password, as a new device.
 *
 * @returns the token, or one sentence about why there is none
 */
export async function logIn(
  homeserver: string,
  { user, password }: { readonly user: string; readonly password: string },
  timeoutMs: number,
): Promise<{ readonly token: string } | { readonly problem: string }> {
  const body = {
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user: isUserId(user) ? user : user.replace(/^@/, '') },
    password,
    initial_device_display_name: 'Patchclaw',
  };
  try {
    const api = new MatrixApi({ homeserver, token: null });
    const answer = await api.call('POST', '/login', { body, timeoutMs });
    return { token: Login.parse(answer).access_token };
  } catch (error) {
    if (error instanceof MatrixFailure && error.errcode === 'M_FORBIDDEN') {
      return { problem: 'The homeserver does not know this user name with this password.' };
    }
    return { problem: `${new URL(homeserver).host} ${problemOf(error)}.` };
  }
}

function problemOf(error: unknown): string {
  if (isTokenRefused(error)) return 'does not know the token';
  if (!(error instanceof MatrixFailure)) return 'answers with something unexpected';
  if (error.waitMs !== null) return 'asks for a pause; try again in a minute';
  return error.status === null
    ? `cannot be used (${error.message})`
    : `answers: ${error.message.replace(/\.$/, '')}`;
}

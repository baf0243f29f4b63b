import type { WASocket } from '@whiskeysockets/baileys';
import type { ChannelClock, ChannelLog } from '../../channel.ts';
import { WhatsAppError } from '../failure.ts';
import { openInbox } from '../inbound/inbox.ts';
import { type Baileys, loadBaileys } from './baileys.ts';
import { type Credentials, openCredentials } from './credentials.ts';
import { type LinkDatabase, openLinkDatabase } from './link-database.ts';
import { outcomeOf } from './outcome.ts';
import { openSocket, WHATSAPP_SOCKET } from './socket.ts';
import { fetchVersion, keepVersion, readVersion, type WebVersion } from './version.ts';

/** The way to link: a QR code to scan, or a code to type on the phone. */
export type PairingMethod =
  | { readonly kind: 'qr'; readonly show: (qr: string) => void }
  | {
      readonly kind: 'code';
      /** In digits, with the country's, as WhatsApp knows the account. */
      readonly phoneNumber: string;
      readonly show: (code: string) => void;
    };

export type PairingOptions = {
  readonly dataDir: string;
  readonly method: PairingMethod;
  readonly log: ChannelLog;
  readonly clock: Pick<ChannelClock, 'now' | 'pause'>;
  readonly signal: AbortSignal;
  /** Pairs again where there is a pairing already. */
  readonly isAgain: boolean;
  /** Another endpoint than WhatsApp's own, for tests. */
  readonly endpoint?: PairingEndpoint;
};

type PairingEndpoint = {
  readonly socketUrl: string;
  readonly fetchVersion: (baileys: Baileys) => Promise<WebVersion | null>;
};

/** Codes expire: so many rounds of them are shown before the owner is taken to have left. */
const ROUNDS = 5;
const PAUSE_MS = 1_000;
/** A login leaves keys with the server: time for that before the line is closed. */
const CLOSE_MS = 2_000;

/** The account that was paired. */
export type PairedAccount = { readonly phoneNumber: string };

/**
 * Links this installation to the owner's phone and logs in once, so that the pairing is known to work.
 * Nothing is written before the phone has accepted.
 *
 * @throws WhatsAppError ALREADY_PAIRED, IN_USE, PAIRING_FAILED
 */
export async function pair(options: PairingOptions): Promise<PairedAccount> {
  const baileys = await loadBaileys();
  const linkDatabase = openLinkDatabase(options.dataDir, options.clock.now);
  try {
    const credentials = openCredentials(linkDatabase, baileys);
    if (credentials.isPaired && !options.isAgain) {
      throw new WhatsAppError(
        'ALREADY_PAIRED',
        `This installation is paired with +${credentials.phoneNumber} already.`,
      );
    }
    await acceptOnPhone({ ...options, baileys, linkDatabase, credentials });
    const { phoneNumber } = credentials;
    if (phoneNumber === null) throw failed('the phone accepted, and no account came of it');
    return { phoneNumber };
  } finally {
    linkDatabase.close();
  }
}

type Attempt = PairingOptions & {
  readonly baileys: Baileys;
  readonly linkDatabase: LinkDatabase;
  readonly credentials: Credentials;
};

async function acceptOnPhone(attempt: Attempt): Promise<void> {
  const { baileys, linkDatabase, signal, endpoint, clock } = attempt;
  let isAccepted = false;
  let wasAsked = false;
  for (let round = 0; round < ROUNDS; round += 1) {
    const end = await runOnce(attempt, isAccepted);
    if (end.kind === 'open') return;
    if (signal.aborted) throw failed('it was broken off');
    isAccepted ||= end.isAccepted;
    wasAsked ||= end.wasAsked;
    const outcome = outcomeOf(end.error);
    if (outcome.kind === 'refused') throw failed(outcome.detail);
    if (outcome.kind === 'removed') throw failed('the phone did not accept');
    if (outcome.kind === 'restart') continue;
    if (outcome.kind === 'stale') {
      const version = await (endpoint?.fetchVersion ?? fetchVersion)(baileys).catch(() => null);
      if (version === null) throw failed('WhatsApp no longer takes this version: update first');
      keepVersion(linkDatabase, version);
      continue;
    }
    await clock.pause(PAUSE_MS, signal);
  }
  throw failed(
    wasAsked
      ? 'no answer came from the phone. Try again'
      : 'WhatsApp cannot be reached. Look at the network of this machine, and try again',
  );
}

type End =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed';
      /** WhatsApp gave out a code to show. */
      readonly wasAsked: boolean;
      readonly isAccepted: boolean;
      readonly error: unknown;
    };

/**
 * Runs one connection: before the phone accepts, with keys that are unknown to WhatsApp; after that, with
 * the accepted ones.
 */
async function runOnce(attempt: Attempt, isAccepted: boolean): Promise<End> {
  const { baileys, linkDatabase, credentials, signal, log } = attempt;
  const inbox = openInbox(linkDatabase, baileys);
  const state = credentials.state(inbox);
  const auth = isAccepted ? state : { ...state, creds: baileys.initAuthCreds() };
  const socket = openSocket({
    baileys,
    url: attempt.endpoint?.socketUrl ?? WHATSAPP_SOCKET,
    version: readVersion(linkDatabase, baileys),
    auth,
    inbox,
    commits: null,
    log,
    contentFor: async () => null,
    membersOf: () => undefined,
  });
  const { promise: end, resolve } = Promise.withResolvers<End>();
  let isAcceptedNow = isAccepted;
  let wasAsked = false;
  socket.ev.on('creds.update', () => {
    // Until the phone has signed for this device there is nothing to keep.
    if (auth.creds.account === undefined) return;
    if (isAcceptedNow) credentials.save(auth.creds);
    else credentials.replace(auth.creds);
    isAcceptedNow = true;
  });
  const close = (error: unknown): void =>
    resolve({ kind: 'closed', wasAsked, isAccepted: isAcceptedNow, error });
  socket.ev.on('connection.update', ({ connection, qr, lastDisconnect }) => {
    if (qr !== undefined) {
      wasAsked = true;
      show(socket, attempt.method, qr).catch(close);
    }
    if (connection === 'open') resolve({ kind: 'open' });
    if (connection === 'close') close(lastDisconnect?.error);
  });
  const stop = (): void => void socket.end(undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await end;
  } finally {
    signal.removeEventListener('abort', stop);
    const { promise: late, resolve: give } = Promise.withResolvers<void>();
    const timer = setTimeout(give, CLOSE_MS);
    await Promise.race([socket.end(undefined), late]);
    clearTimeout(timer);
  }
}

/** Shows a code. One to type is asked for once per connection; a QR code is renewed until it is scanned. */
async function show(socket: WASocket, method: PairingMethod, qr: string): Promise<void> {
  if (method.kind === 'qr') return method.show(qr);
  if (socket.authState.creds.pairingCode !== undefined) return;
  const code = await socket.requestPairingCode(method.phoneNumber);
  method.show(`${code.slice(0, 4)}-${code.slice(4)}`);
}

function failed(reason: string): WhatsAppError {
  return new WhatsAppError('PAIRING_FAILED', `Pairing with WhatsApp failed: ${reason}.`);
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from 'node:https';
import type {
  AuthenticationState,
  BinaryNode,
  GroupMetadata,
  SignalRepositoryWithLIDStore,
  WASocket,
} from '@whiskeysockets/baileys';
import type { ILogger } from '@whiskeysockets/baileys/lib/Utils/logger.js';
import type { ChannelLog } from '../../channel.ts';
import type { Inbox } from '../inbound/inbox.ts';
import type { CommitBeforeSend } from '../outbound/commit-before-send.ts';
import type { SentContent } from '../outbound/sent.ts';
import type { Baileys } from './baileys.ts';
import type { WebVersion } from './version.ts';

/** WhatsApp's address. Tests use another: only TLS authenticates the far end. */
export const WHATSAPP_SOCKET = 'wss://web.whatsapp.com/ws/chat';

const MESSAGE = 'CB:message';

export type SocketOptions = {
  readonly baileys: Baileys;
  readonly url: string;
  readonly version: WebVersion;
  readonly auth: AuthenticationState;
  readonly inbox: Inbox | null;
  /** Holds back what goes out until its keys are stored; null where they are stored at once. */
  readonly commits: CommitBeforeSend | null;
  readonly log: ChannelLog;
  /** Returns the message with that id in that chat, for a recipient that asks again. */
  readonly contentFor: (jid: string, messageId: string) => Promise<SentContent | null>;
  /** The agent for uploads; undefined for that of Node. */
  readonly uploadAgent?: Agent | undefined;
  /** Returns the members of a group, where they are known. */
  readonly membersOf: (jid: string) => GroupMetadata | undefined;
};

/** Opens one connection. It lives until it ends, and is never used again. */
export function openSocket(options: SocketOptions): WASocket {
  const { baileys, auth, inbox, contentFor } = options;
  const [major, minor, patch] = options.version;
  const { makeSignalRepository } = baileys.DEFAULT_CONNECTION_CONFIG;
  const { INITIAL_BOOTSTRAP, PUSH_NAME } = baileys.proto.HistorySync.HistorySyncType;
  const socket = baileys.makeWASocket({
    auth,
    version: [major, minor, patch],
    waWebSocketUrl: checked(options.url),
    ...(options.uploadAgent === undefined ? {} : { fetchAgent: options.uploadAgent }),
    logger: baileysLog(options.log),
    browser: baileys.Browsers.appropriate('Desktop'),
    // What we sent is known; the phone would stay silent if the assistant were online all day.
    emitOwnEvents: false,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    // The newest part of the history also brings who has which address; the rest is not needed here.
    shouldSyncHistoryMessage: ({ syncType }) =>
      syncType === INITIAL_BOOTSTRAP || syncType === PUSH_NAME,
    // Status broadcasts and newsletters are never handed to the host.
    shouldIgnoreJid: (jid) => /@(broadcast|newsletter)$/.test(jid),
    cachedGroupMetadata: async (jid) => options.membersOf(jid),
    getMessage: async ({ id, remoteJid }) => {
      const content = id && remoteJid ? await contentFor(remoteJid, id) : null;
      if (content === null) return undefined;
      return content.kind === 'file'
        ? baileys.proto.Message.decode(content.message)
        : { extendedTextMessage: { text: content.text } };
    },
    makeSignalRepository: (signal, logger, lidsOf): SignalRepositoryWithLIDStore => {
      const repository = makeSignalRepository(signal, logger, lidsOf);
      const { keys } = signal;
      const apart = signalApart(repository, () => auth.creds.me?.id);
      return inbox !== null && 'transaction' in keys ? inbox.guard(apart, keys) : apart;
    },
  });
  takeInOrder(socket, inbox);
  if (options.commits !== null) commitBeforeSending(socket, options.commits);
  return socket;
}

/**
 * Lets Baileys work on one message at a time. By itself it begins all of them at once and finishes in the
 * order in which questions to the server are answered; and what had waited for us it keeps apart.
 */
function takeInOrder({ ws }: WASocket, inbox: Inbox | null): void {
  const listeners = ws.listeners(MESSAGE).map((listener) => listener.bind(ws));
  let work: Promise<unknown> = Promise.resolve();
  ws.removeAllListeners(MESSAGE);
  ws.on(MESSAGE, (node: BinaryNode) => {
    inbox?.expect(node);
    const { offline: _, ...attrs } = node.attrs;
    const take = () => Promise.all(listeners.map((listener) => listener({ ...node, attrs })));
    // Baileys logs its own failures; later messages come all the same.
    work = work.then(take).catch(() => {});
  });
}

/**
 * Baileys' log for ours: its messages alone, from warnings on. What it logs beside them holds keys,
 * numbers and texts.
 */
export function baileysLog(log: ChannelLog): ILogger {
  const nothing = (): void => {};
  const logger: ILogger = {
    level: 'warn',
    child: () => logger,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: (data, message) => log.info(`baileys: ${wordsOf(data, message)}`),
    error: (data, message) => log.info(`baileys: ${wordsOf(data, message)}`),
  };
  return logger;
}

function wordsOf(data: unknown, message: string | undefined): string {
  return message ?? (typeof data === 'string' ? data : 'an error without words');
}

/**
 * Lets every use of a key of encryption be a transaction of its own.
 *
 * Baileys makes all of the sending of a message one transaction of the keys, which ends after the message has
 * gone. A crash in between would bring the used key back: the next message would go out under it, and its
 * recipients would refuse to read it. Apart from that transaction, the key's end is known before the message
 * is sent, and {@link CommitBeforeSend} keeps it first.
 *
 * To be called outside of any transaction.
 *
 * @param me returns this device's own address. It names the transaction of the sending, so what is done for it
 * stays inside: two of one name wait for each other.
 */
function signalApart(
  inner: SignalRepositoryWithLIDStore,
  me: () => string | undefined,
): SignalRepositoryWithLIDStore {
  const outside = AsyncLocalStorage.snapshot();
  const apart = <R>(jid: string, work: () => Promise<R>): Promise<R> =>
    jid === me() ? work() : outside(work);
  return {
    ...inner,
    encryptMessage: (asked) => apart(asked.jid, () => inner.encryptMessage(asked)),
    encryptGroupMessage: (asked) => apart(asked.group, () => inner.encryptGroupMessage(asked)),
    getSenderKeyDistributionMessage: (asked) =>
      apart(asked.group, () => inner.getSenderKeyDistributionMessage(asked)),
    hasSenderKey: (asked) => apart(asked.group, () => inner.hasSenderKey(asked)),
    // Sessions are made where they are used, and looked for there.
    injectE2ESession: (asked) => apart(asked.jid, () => inner.injectE2ESession(asked)),
    validateSession: (jid) => apart(jid, () => inner.validateSession(jid)),
  };
}

type SocketLine = Pick<WebSocket, 'readyState'> & {
  send(data: Uint8Array, onSent?: (error?: Error) => void): void;
};

/**
 * Frames go out after the commit of what they promise. Sending returns at once, so that a burst of
 * messages is decrypted without a wait for the disk in between; a line that breaks is told by its end.
 */
function commitBeforeSending({ ws }: WASocket, commits: CommitBeforeSend): void {
  // Baileys made it a moment ago, for itself; nothing was sent yet.
  const { socket: line } = ws as unknown as { readonly socket?: SocketLine | null };
  if (typeof line?.send !== 'function') {
    commits.commitAtOnce();
    return;
  }
  const send = line.send.bind(line);
  line.send = (data, onSent) => {
    commits.send(() => {
      if (line.readyState === WebSocket.OPEN) send(data, () => {});
    });
    onSent?.();
  };
}

function checked(url: string): string {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'wss:' || hostname === '127.0.0.1') return url;
  throw new TypeError(`WhatsApp is reached over wss:, not ${url}.`);
}

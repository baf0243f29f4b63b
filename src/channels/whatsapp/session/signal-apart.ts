import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalRepositoryWithLIDStore } from '@whiskeysockets/baileys';

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
export function signalApart(
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

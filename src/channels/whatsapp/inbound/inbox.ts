import { createHash } from 'node:crypto';
import type {
  BinaryNode,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
  WAMessageKey,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { Baileys } from '../session/baileys.ts';
import type { LinkDatabase } from '../session/link-database.ts';

/**
 * Messages between decryption and the host's word that they are stored.
 *
 * Baileys acknowledges a message as soon as it is decrypted, and the key that decrypted it is gone by
 * then. So what was decrypted is written in the same transaction as the key's end, before the
 * acknowledgement: a crash in between loses nothing, the message is taken up again at the next start. News of a
 * group's members is not a message, and is kept here in the same way.
 */
export interface Inbox {
  /** Remembers which message a ciphertext belongs to; called before it is decrypted. */
  expect(node: BinaryNode): void;
  /**
   * Writes what WhatsApp tells about a group's members, which is not encrypted; other notices are not kept. Called before
   * Baileys acknowledges it.
   */
  keepNotice(node: BinaryNode): void;
  /** Wraps decryption so that its outcome is kept. */
  guard(
    inner: SignalRepositoryWithLIDStore,
    keys: SignalKeyStoreWithTransaction,
  ): SignalRepositoryWithLIDStore;
  /** Writes what was decrypted, and deletes what is stored, since the last time; called inside the transaction of the keys. */
  writePending(): void;
  /** Forgets the rows of the last transaction, which is on disk now. */
  forgetWritten(): void;
  /** Marks a message as stored by the host, or as unwanted. Its row goes with the next write, or soon. */
  stored(key: WAMessageKey): void;
  /** Deletes the rows of stored messages at once. */
  flush(): void;
  /** Returns messages that the host has not stored, oldest first, to be handed to Baileys again. */
  notYetStored(): Promise<BinaryNode[]>;
}

type Decrypted = { readonly digest: string; readonly node: BinaryNode; readonly plain: Uint8Array };

const FLUSH_MS = 200;

/** Parts of a notice about a group that Baileys makes a message of, and the agent is told. */
const MEMBER_NEWS = new Set(['add', 'remove', 'leave']);

const Plain = z.object({ plain: z.instanceof(Uint8Array) });
const StoredNode = z.object({ node: z.instanceof(Uint8Array) });

export function openInbox({ database, now }: LinkDatabase, baileys: Baileys): Inbox {
  const insert = database.prepare(`
    INSERT OR IGNORE INTO inbox (digest, message, node, plain, received_at) VALUES (?, ?, ?, ?, ?)`);
  const find = database.prepare('SELECT plain FROM inbox WHERE digest = ?');
  const forget = database.prepare('DELETE FROM inbox WHERE message = ?');
  const all = database.prepare(
    'SELECT node, min(seq) AS first FROM inbox GROUP BY message ORDER BY first',
  );
  const expected = new WeakMap<Uint8Array, BinaryNode>();
  const pending = new Map<string, Decrypted>();
  const storedKeys: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function once(
    ciphertext: Uint8Array,
    decrypt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const digest = createHash('sha256').update(ciphertext).digest('hex');
    const known = pending.get(digest) ?? Plain.optional().parse(find.get(digest));
    if (known !== undefined) return known.plain;
    const plain = await decrypt();
    const node = expected.get(ciphertext);
    if (node !== undefined) pending.set(digest, { digest, node, plain });
    return plain;
  }

  const forgetStored = database.transaction(() => {
    for (const message of storedKeys.splice(0)) forget.run(message);
  });

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (database.open && storedKeys.length > 0) forgetStored();
  }

  return {
    expect(node) {
      for (const { content } of baileys.getAllBinaryNodeChildren(node)) {
        if (content instanceof Uint8Array) expected.set(content, node);
      }
    },
    keepNotice(node) {
      const isOfMembers =
        node.attrs['type'] === 'w:gp2' &&
        baileys.getAllBinaryNodeChildren(node).some(({ tag }) => MEMBER_NEWS.has(tag));
      if (!isOfMembers || !database.open) return;
      const name = nameOfNode(node, baileys);
      const encoded = baileys.encodeBinaryNode(node);
      insert.run(`notice ${name}`, name, encoded, new Uint8Array(), now());
    },
    guard: (inner, keys) => ({
      ...inner,
      decryptMessage: (asked) =>
        keys.transaction(
          () => once(asked.ciphertext, () => inner.decryptMessage(asked)),
          asked.jid,
        ),
      decryptGroupMessage: (asked) =>
        keys.transaction(
          () => once(asked.msg, () => inner.decryptGroupMessage(asked)),
          asked.group,
        ),
    }),
    writePending() {
      for (const { digest, node, plain } of pending.values()) {
        const encoded = baileys.encodeBinaryNode(node);
        insert.run(digest, nameOfNode(node, baileys), encoded, plain, now());
      }
      for (const message of storedKeys) forget.run(message);
    },
    forgetWritten() {
      pending.clear();
      storedKeys.length = 0;
    },
    stored(key) {
      // What is handed over again because this was lost is known to the host, so it need not be durable.
      storedKeys.push(nameOfKey(key));
      timer ??= setTimeout(flush, FLUSH_MS);
    },
    flush,
    async notYetStored() {
      const rows = z.array(StoredNode).parse(all.all());
      // The first byte of the decoder's input tells whether the rest is compressed; the encoder writes it.
      return await Promise.all(rows.map(({ node }) => baileys.decodeBinaryNode(Buffer.from(node))));
    },
  };
}

function nameOfNode({ attrs }: BinaryNode, { jidNormalizedUser }: Baileys): string {
  const { id = '', from, recipient, participant } = attrs;
  return [jidNormalizedUser(recipient ?? from), jidNormalizedUser(participant), id].join(' ');
}

function nameOfKey({ remoteJid, participant, id }: WAMessageKey): string {
  return [remoteJid ?? '', participant ?? '', id ?? ''].join(' ');
}

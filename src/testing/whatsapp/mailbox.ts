import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Line } from './connection/line.ts';
import { node, SERVER } from './node.ts';

/**
 * Messages for the device under test. A message stays until the device acknowledges it, and comes again,
 * marked as offline, on each new connection until then.
 */
export class Mailbox {
  readonly #pending = new Map<string, BinaryNode>();
  readonly acknowledged: string[] = [];

  get size(): number {
    return this.#pending.size;
  }

  put(message: BinaryNode, line: Line | null): void {
    this.#pending.set(message.attrs['id'] ?? '', message);
    line?.send(message);
  }

  /** Everything that waits, oldest first, and then the word that this was all. */
  deliver(line: Line): void {
    const count = String(this.#pending.size);
    for (const message of this.#pending.values()) {
      line.send({ ...message, attrs: { ...message.attrs, offline: '1' } });
    }
    line.send(node('ib', { from: SERVER }, [node('offline', { count })]));
  }

  /** The device has taken a message: by a receipt, or by an acknowledgement. */
  acknowledge({ tag, attrs }: BinaryNode): void {
    const isMessage = tag === 'receipt' || attrs['class'] === 'message';
    const id = attrs['id'] ?? '';
    if (isMessage && attrs['type'] !== 'retry' && this.#pending.delete(id)) {
      this.acknowledged.push(id);
    }
  }
}

import type { ChannelEvents } from '../../channel.ts';
import type { Addresses } from './addresses.ts';

/**
 * Lets the host join two chats that turned out to be one person's. Open work is noted on disk, so a crash in between
 * only delays it.
 *
 * @returns a function that resolves when nothing is left to be done, and rejects when the host could not
 */
export function chatMerger(
  addresses: Addresses,
  { onSameChat }: Pick<ChannelEvents, 'onSameChat'>,
): () => Promise<void> {
  let work: Promise<void> = Promise.resolve();

  async function mergeAll(): Promise<void> {
    for (const merge of addresses.merges()) {
      await onSameChat?.(merge.from, merge.to);
      addresses.forgetMerge(merge);
    }
  }

  return () => {
    if (addresses.merges().length === 0) return work;
    // One after the other, also after one that failed.
    work = work.catch(() => {}).then(mergeAll);
    return work;
  };
}

import type { Channel, ChannelStatus } from '../../channels/channel.ts';
import type { ChannelsPort, LogPort, StorePort, TimerPort } from '../contracts/ports.ts';
import { ownersChats } from '../groups/owners-chats.ts';

/** A channel that goes on trying by itself gets so long before the owner hears of it. */
const PATIENCE_MS = 30_000;

export interface ChannelWatch {
  /** A channel has another status. */
  note(channel: Channel, status: ChannelStatus): void;
  stop(): void;
}

export type ChannelWatchOptions = StorePort &
  ChannelsPort &
  TimerPort &
  LogPort & {
    readonly say: (jid: string, text: string) => void;
  };

/**
 * Tells the owner, in their chats on all other channels, that a channel needs them, and when it works again.
 *
 * Once for each problem, however often the channel tries again or restarts: what was told is on disk. While the owner
 * has no such chat, nothing counts as told.
 */
export function openChannelWatch(options: ChannelWatchOptions): ChannelWatch {
  const { store, setTimer, log, say } = options;
  const waiting = new Map<string, () => void>();

  function tell(channel: Channel, text: string): boolean {
    const chats = ownersChats(options).filter(({ jid }) => !channel.ownsJid(jid));
    for (const { jid } of chats) say(jid, text);
    return chats.length > 0;
  }

  /** @returns whether the owner knows, now or from before */
  function tellTrouble(channel: Channel, { state, detail }: ChannelStatus): boolean {
    const key = keyOf(channel);
    // What a refused channel lacks may be another thing after the owner has added the first.
    const trouble = state === 'refused' ? `${state} ${detail}` : state;
    if (store.meta.get(key) === trouble) return true;
    const text = `The channel ${channel.name} does not work: ${detail ?? state}`;
    const isTold = tell(channel, text);
    if (isTold) store.meta.set(key, trouble);
    return isTold;
  }

  function stopWaiting({ name }: Channel): void {
    waiting.get(name)?.();
    waiting.delete(name);
  }

  return {
    note(channel, status) {
      const { state, detail } = status;
      const data = { channel: channel.name, state, detail };
      if (state === 'connected') {
        stopWaiting(channel);
        log.info('a channel changed its state', data);
        if (store.meta.get(keyOf(channel)) === null) return;
        store.meta.remove(keyOf(channel));
        tell(channel, `The channel ${channel.name} works again.`);
      } else if (state === 'unpaired' || state === 'refused') {
        stopWaiting(channel);
        // A warning shows in the terminal, where the owner has read it already.
        const isKnown = tellTrouble(channel, status);
        log[isKnown ? 'info' : 'warn']('a channel needs the owner', data);
      } else if (state === 'failed') {
        log.warn('a channel does not work', data);
        if (waiting.has(channel.name)) return;
        const cancel = setTimer(PATIENCE_MS, () => {
          waiting.delete(channel.name);
          if (channel.status().state === 'failed') tellTrouble(channel, channel.status());
        });
        waiting.set(channel.name, cancel);
      } else {
        log.info('a channel changed its state', data);
      }
    },
    stop() {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    },
  };
}

function keyOf({ name }: Channel): string {
  return `channel.trouble.${name}`;
}

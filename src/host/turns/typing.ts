import type { Channel } from '../../channels/channel.ts';
import type { ChannelOf } from '../address-book.ts';

/** Shows in chats that the assistant is at work. */
export interface Typing {
  /**
   * Shows it until the work ends; with several at once, until the last one does. The work has begun by then, so
   * it never waits for what the channel does to show it.
   */
  during<T>(jid: string, work: () => Promise<T>): Promise<T>;
}

/** @param everyMs how often it is shown again: channels let it fade by themselves */
export function openTyping(channelOf: ChannelOf, everyMs: number): Typing {
  const shown = new Map<string, { works: number; readonly stop: () => void }>();

  function start(jid: string): void {
    const running = shown.get(jid);
    if (running !== undefined) {
      running.works += 1;
      return;
    }
    shown.set(jid, { works: 1, stop: show(jid) });
  }

  /** Returns what ends it. */
  function show(jid: string): () => void {
    let timer: NodeJS.Timeout | undefined;
    const channel = channelOf(jid);
    const soon = setImmediate(() => {
      set(channel, jid, true);
      timer = setInterval(() => set(channel, jid, true), everyMs);
    });
    return () => {
      clearImmediate(soon);
      clearInterval(timer);
      if (timer !== undefined) set(channelOf(jid), jid, false);
    };
  }

  function end(jid: string): void {
    const running = shown.get(jid);
    if (running === undefined) return;
    running.works -= 1;
    if (running.works > 0) return;
    shown.delete(jid);
    running.stop();
  }

  return {
    async during(jid, work) {
      start(jid);
      try {
        return await work();
      } finally {
        end(jid);
      }
    },
  };
}

function set(channel: Channel | undefined, jid: string, isTyping: boolean): void {
  // A failing indicator must not hold up the answer; a broken channel shows when the answer is sent.
  channel?.setTyping(jid, isTyping).catch(() => {});
}

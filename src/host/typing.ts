import type { Channel } from '../channels/channel.ts';

/** Shows the typing indicator until the returned function is called; channels let it fade by themselves. */
export function showTyping(channel: Channel, jid: string, everyMs: number): () => void {
  const set = (isTyping: boolean): void => {
    // An indicator that fails is no reason to hold up the answer, and the send will tell.
    channel.setTyping(jid, isTyping).catch(() => {});
  };
  set(true);
  const timer = setInterval(() => set(true), everyMs);
  return () => {
    clearInterval(timer);
    set(false);
  };
}

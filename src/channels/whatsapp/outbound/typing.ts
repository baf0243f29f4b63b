import type { WASocket } from '@whiskeysockets/baileys';

/**
 * The typing indicator. WhatsApp shows it only of an account that is online, and sends no notifications to
 * the phone meanwhile, so the account is online exactly as long as something is being written.
 */
export class Typing {
  readonly #socket: () => WASocket | null;
  readonly #chats = new Set<string>();

  constructor(socket: () => WASocket | null) {
    this.#socket = socket;
  }

  async set(jid: string, isTyping: boolean): Promise<void> {
    const wasOnline = this.#chats.size > 0;
    if (isTyping) this.#chats.add(jid);
    else this.#chats.delete(jid);
    const socket = this.#socket();
    if (socket === null) return;
    if (isTyping && !wasOnline) await socket.sendPresenceUpdate('available');
    await socket.sendPresenceUpdate(isTyping ? 'composing' : 'paused', jid);
    if (this.#chats.size === 0) await socket.sendPresenceUpdate('unavailable');
  }
}

import type { WAMessage } from '@whiskeysockets/baileys';
import type { ChannelClock, ChannelEvents, ChannelLog, Choice, Reaction } from '../../channel.ts';
import { type AlbumPart, Albums, albumPlaceOf } from './albums.ts';
import type { Inbox } from './inbox.ts';
import type { Media } from './media.ts';
import { type Reader, type ReadMessage, readMessage } from './message.ts';

export type InboundQueueOptions = {
  readonly events: Pick<ChannelEvents, 'onMessage' | 'onChoice' | 'onReaction'>;
  /** Makes those chats one that turned out to be. Rejects while the host cannot. */
  readonly mergeChats: () => Promise<void>;
  readonly inbox: Inbox;
  readonly media: Media;
  readonly reader: () => Reader;
  /** Reads a vote on a poll of the assistant's; null for every other message. */
  readonly voteIn: (raw: WAMessage) => Choice | null;
  /** Reads a reaction to a message of the assistant's; null for every other message. */
  readonly reactionIn: (raw: WAMessage) => Reaction | null;
  /** The phone number's address of a LID, where Baileys has learnt it. */
  readonly phoneOf: (lid: string) => Promise<string | null>;
  readonly clock: Pick<ChannelClock, 'now' | 'pause'>;
  readonly log: ChannelLog;
  readonly signal: AbortSignal;
};

const KEPT_KEYS = 5_000;
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 100;
/** Older messages are stored without an answer: they were meant for another day. */
const ANSWERED_MS = 24 * 3_600_000;

/**
 * Hands messages to the host: those of a chat one after the other, in the order in which WhatsApp gave
 * them out, those of several chats side by side. A message stays in the inbox until the host has stored it.
 */
export class InboundQueue {
  readonly #options: InboundQueueOptions;
  readonly #handed = new Set<string>();
  readonly #albums: Albums;
  #reading: Promise<void> = Promise.resolve();
  /** By chat, what is still to be handed over of it. */
  readonly #handing = new Map<string, Promise<void>>();

  constructor(options: InboundQueueOptions) {
    this.#options = options;
    this.#albums = new Albums(options.clock, options.signal);
  }

  take(messages: readonly WAMessage[]): void {
    for (const raw of messages) {
      this.#reading = this.#reading.then(() => this.#read(raw));
    }
  }

  /** Resolves when everything that has arrived so far is handed over, or will not be. */
  async handedOver(): Promise<void> {
    await this.#reading;
    await this.#handedOver();
  }

  async #read(raw: WAMessage): Promise<void> {
    const { inbox, log, reader } = this.#options;
    try {
      await this.#learnAddress(raw);
      const vote = isForPeople(raw) ? this.#options.voteIn(raw) : null;
      if (vote !== null) return this.#takeVote(vote, raw);
      const reaction = isForPeople(raw) ? this.#options.reactionIn(raw) : null;
      const read = isForPeople(raw) ? readMessage(raw, reader()) : null;
      const album = albumPlaceOf(raw.message);
      if (album?.kind === 'announcement') {
        this.#albums.announce(nameOfAlbum(raw, raw.key.id ?? ''), album.parts);
      }
      if (read === null) return inbox.stored(raw.key);
      if (reader().addresses.merges().length > 0) await this.#mergeChats();
      if (album?.kind === 'part') return this.#takePart(nameOfAlbum(raw, album.of), { read, raw });
      this.#inItsTurn(read.message.jid, async () => {
        const isAnswer = reaction !== null && (await this.#answers(reaction));
        // To the agent it is something to know; an answer to a question of the host's is not.
        if (isAnswer || (await this.#handOver(read, raw))) inbox.stored(raw.key);
      });
    } catch (error) {
      // A message that cannot be read must not hold up later ones; it stays in the inbox.
      log.warn('a message from WhatsApp was not read', { error: String(error) });
    }
  }

  /** Takes a part of an album. Other messages of the chat wait until the album is complete, so the order stays. */
  #takePart(name: string, part: AlbumPart): void {
    const whole = this.#albums.add(name, part);
    if (whole === null) return;
    this.#inItsTurn(part.read.message.jid, async () => {
      for (const { read, raw } of await whole()) {
        if (await this.#handOver(read, raw)) this.#options.inbox.stored(raw.key);
      }
    });
  }

  /** A vote that comes too late, or of another person, decides nothing, which the poll cannot show. */
  #takeVote(vote: Choice, { key }: WAMessage): void {
    const { events, inbox } = this.#options;
    this.#inItsTurn(vote.jid, async () => {
      if (await this.#stored(async () => await events.onChoice?.(vote))) inbox.stored(key);
    });
  }

  /** Tells the host of a reaction. Returns whether it was the answer to a question. */
  async #answers(reaction: Reaction): Promise<boolean> {
    const { events } = this.#options;
    let outcome: string | undefined;
    const isTold = await this.#stored(async () => {
      outcome = await events.onReaction?.(reaction);
    });
    return isTold && outcome === 'answered';
  }

  #inItsTurn(jid: string, work: () => Promise<void>): void {
    const before = this.#handing.get(jid) ?? Promise.resolve();
    const mine = before.then(work).catch((error: unknown) => {
      this.#options.log.warn('a message from WhatsApp was not handed over', {
        error: String(error),
      });
    });
    this.#handing.set(jid, mine);
    mine.then(() => {
      if (this.#handing.get(jid) === mine) this.#handing.delete(jid);
    });
  }

  /** Moves messages of a chat's old address to its new one, before the next message is handed over. */
  async #mergeChats(): Promise<void> {
    await this.#handedOver();
    // It is tried again before the next message is handed over.
    await this.#options.mergeChats().catch(() => {});
  }

  async #handedOver(): Promise<void> {
    await Promise.all(this.#handing.values());
  }

  /** A message may name only one address of its sender; the other may be known from elsewhere. */
  async #learnAddress({ key }: WAMessage): Promise<void> {
    const { phoneOf, reader } = this.#options;
    const sender = key.participant || key.remoteJid;
    if (!sender?.endsWith('@lid') || key.participantAlt || key.remoteJidAlt) return;
    const { addresses } = reader();
    if (addresses.find(sender) !== null) return;
    const phone = await phoneOf(sender);
    if (phone !== null) addresses.join(phone, sender);
  }

  /** @returns whether the message is done with */
  async #handOver({ message, media }: ReadMessage, { key }: WAMessage): Promise<boolean> {
    const { jid, id, sender, isDirect } = message;
    const name = `${jid} ${sender} ${id}`;
    if (this.#handed.has(name)) return true;
    if (media !== null) this.#options.media.keep(jid, id, media);
    // The owner's messages to other people are not meant for the assistant.
    const isToOthers = isDirect && key.fromMe === true && jid !== this.#options.reader().self;
    const isOld = message.sentAt < this.#options.clock.now() - ANSWERED_MS;
    const isForNobody = message.isContext === true || isToOthers;
    const isLate = isOld && !isForNobody;
    const given = { ...message, isContext: isForNobody || isOld, isLate };
    if (!(await this.#stored(() => this.#options.events.onMessage(given)))) return false;
    this.#remember(name);
    return true;
  }

  /** Retries while the host cannot store; later messages wait, so that the order stays. */
  async #stored(tell: () => Promise<unknown>): Promise<boolean> {
    const { mergeChats, clock, log, signal } = this.#options;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        await mergeChats();
        await tell();
        return true;
      } catch (error) {
        log.warn('a message from WhatsApp was not stored', { attempt, error: String(error) });
      }
      if (signal.aborted || attempt === ATTEMPTS) break;
      // Cut short when the channel closes: then there is one attempt more.
      await clock.pause(FIRST_PAUSE_MS * 2 ** attempt, signal);
    }
    log.warn('a message from WhatsApp stays in the inbox until the next start');
    return false;
  }

  #remember(name: string): void {
    const [oldest] = this.#handed;
    if (this.#handed.size >= KEPT_KEYS && oldest !== undefined) this.#handed.delete(oldest);
    this.#handed.add(name);
  }
}

/** Names an album by its chat, its sender and its announcement: nobody else adds to it. */
function nameOfAlbum({ key }: WAMessage, announcement: string): string {
  return [key.remoteJid, key.participant ?? '', key.fromMe === true, announcement].join(' ');
}

/**
 * Tells whether a message is one between people: no status update, broadcast list or channel, and not the
 * phone's word to its own devices.
 */
function isForPeople({ key, category }: WAMessage): boolean {
  return category !== 'peer' && /@(g\.us|s\.whatsapp\.net|lid)$/.test(key.remoteJid ?? '');
}

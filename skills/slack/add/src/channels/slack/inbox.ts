import { shortened } from '../../lib/graphemes.ts';
import type { ChannelEvents, ChoiceOutcome, InboundMessage } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { answerNote, correctedNote, deletedNote, happenedNote, unknownNote } from '../kit/notes.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { attachmentOf, wordsFor } from './content.ts';
import { emojiOf } from './emoji.ts';
import {
  readEvent,
  type SlackEvent,
  type SlackFile,
  type SlackForward,
  type SlackMessage,
} from './event.ts';
import type { FileReferences } from './file-references.ts';
import { isDirectChannel, jidOf } from './jid.ts';
import type { Names } from './names.ts';
import { choiceOf, type Press, readPress } from './press.ts';
import type { SeenMessages } from './seen-messages.ts';
import { mentionsUser, readSlackText } from './text.ts';

const REMEMBERED = 1_000;
const THREAD_CHARACTERS = 60;

/** To be known about, and not to be answered. */
const SILENT = { text: '', mentionsAssistant: false, isContext: true } as const;

/** Hands events to the host, one after the other. */
export class Inbox {
  readonly #options: InboxOptions;
  /** Messages on their way to the host or there, by channel and time stamp. */
  readonly #messages = new Map<string, Promise<void>>();
  readonly #chats = new Map<string, string | null>();
  #botUserId = '';
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** A new session has begun, as this user of the workspace. */
  arrive(botUserId: string): void {
    this.#botUserId = botUserId;
    this.#options.names.forget();
  }

  /**
   * Resolves when the host has stored what is in the body of an envelope, or there is nothing to
   * store. Rejects when it did not store it; the envelope must then come again.
   */
  async take(body: unknown): Promise<void> {
    const event = readEvent(body);
    if (event === null) return;
    if (!this.#isWelcome(event)) return this.#turnAway(event);
    if (this.#isClosed) throw new Error('the channel is being disconnected');
    if (event.kind === 'reacted') return this.#inOrder(() => this.#react(event));
    if (event.kind === 'moved') return this.#inOrder(() => this.#move(event));
    if (event.kind === 'changed') return this.#inOrder(() => this.#correct(event));
    if (event.kind === 'happened') return this.#inOrder(() => this.#tell(event));
    if (event.kind === 'joined') return this.#inOrder(() => this.#reportChat(event.channel, ''));
    // A mention comes twice, as `message` and as `app_mention`, and all comes again unless
    // acknowledged in three seconds.
    const { channel, ts } = event.message;
    const key = `${channel} ${ts}`;
    const same = this.#messages.get(key);
    if (same !== undefined) return same;
    const storing = this.#inOrder(() => this.#store(event.message));
    this.#remember(key, storing);
    await storing.catch((error) => {
      this.#messages.delete(key);
      throw error;
    });
  }

  /** Resolves when the host has stored the press in the body of an envelope, or there is nothing to store. */
  async takePress(body: unknown): Promise<void> {
    const { allowFrom, events, showOutcome } = this.#options;
    const press = readPress(body);
    if (press === null || !isAllowed(allowFrom, press.user.id)) return;
    if (this.#isClosed) throw new Error('the channel is being disconnected');
    await this.#inOrder(async () => {
      const outcome = (await events.onChoice?.(choiceOf(press))) ?? 'closed';
      // The envelope is acknowledged in time, whatever Slack says to this.
      void showOutcome(press, outcome);
    });
  }

  /** Takes nothing more, and resolves when what is in hand is stored or was refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  #isWelcome(event: SlackEvent): boolean {
    const { allowFrom } = this.#options;
    if (event.kind === 'message') {
      const { user } = event.message;
      return user !== this.#botUserId && isAllowed(allowFrom, user);
    }
    if (event.kind === 'moved') return true;
    if (event.kind !== 'joined') {
      return event.user !== this.#botUserId && isAllowed(allowFrom, event.user);
    }
    const { user, inviter } = event;
    return user === this.#botUserId && inviter !== null && isAllowed(allowFrom, inviter);
  }

  /** Somebody who writes directly is counted; of what they wrote nothing is kept. */
  async #turnAway(event: SlackEvent): Promise<void> {
    if (event.kind !== 'message') return;
    const { channel, user } = event.message;
    if (user === this.#botUserId || !isDirectChannel(channel)) return;
    await this.#options.events.onStranger?.(user);
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    // Whoever asked for the work hears of its failure; the next one's turn comes all the same.
    this.#last = done.catch(() => {});
    return done;
  }

  async #store(message: SlackMessage): Promise<void> {
    const { channel, user } = message;
    await this.#reportChat(channel, user);
    const { events, files } = this.#options;
    const whole = await this.#read(message);
    const forwards = await Promise.all(
      message.forwards.map((forward, at) => this.#forwardOf(whole, forward, at)),
    );
    const hasOwn = whole.text !== '' || message.files.length > 0 || forwards.length === 0;
    const all = [
      // A forward without a comment asks for an answer; with one, the comment does.
      ...forwards.flatMap(([forward, sharedFiles], at) =>
        withFiles(
          hasOwn || at < forwards.length - 1 ? { ...forward, isContext: true } : forward,
          sharedFiles,
        ),
      ),
      ...(hasOwn ? withFiles(whole, message.files) : []),
    ];
    for (const [inbound, file] of all) {
      if (file !== null) files.keep(inbound.jid, inbound.id, file.id);
      await events.onMessage(inbound);
    }
    this.#options.seen.note(message);
  }

  async #forwardOf(
    whole: InboundMessage,
    { authorName, authorId, text, files }: SlackForward,
    at: number,
  ): Promise<readonly [InboundMessage, readonly SlackFile[]]> {
    const from =
      authorName ?? (authorId === null ? null : await this.#options.names.ofUser(authorId));
    const words = await this.#wordsIn(text, whole.sender);
    const forward = {
      ...whole,
      id: `${whole.id}-forward${at === 0 ? '' : `-${at + 1}`}`,
      text: words,
      forwarded: { from },
      notes: files.map(wordsFor).filter((note) => note !== null),
      mentionsAssistant: false,
    };
    return [forward, files];
  }

  /** Tells of a message that was changed or deleted after it was sent. */
  async #correct({ of, ts, text, before, ...place }: Extract<SlackEvent, { kind: 'changed' }>) {
    const was = await this.#wordsIn(before, place.user);
    const note =
      text === null ? deletedNote(was) : correctedNote(await this.#wordsIn(text, place.user), was);
    const base = await this.#baseOf({ ...place, ts: of });
    const id = `${of}-${text === null ? 'deleted' : `changed-${ts}`}`;
    await this.#options.events.onMessage({ ...base, ...SILENT, id, notes: [note] });
  }

  /** Tells of something that nobody said. */
  async #tell({ ts, text, unknown, ...place }: Extract<SlackEvent, { kind: 'happened' }>) {
    if (!this.#chats.has(jidOf(place.channel))) return;
    const words = await this.#wordsIn(text, place.user);
    const note = unknown === null ? happenedNote(words) : unknownNote(unknown);
    const base = await this.#baseOf({ ...place, ts, thread: null });
    await this.#options.events.onMessage({
      ...base,
      ...SILENT,
      text: unknown === null ? '' : words,
      notes: [note],
    });
  }

  async #move({ from, to }: Extract<SlackEvent, { kind: 'moved' }>): Promise<void> {
    await this.#options.events.onSameChat?.(jidOf(from), jidOf(to));
  }

  async #wordsIn(text: string, user: string): Promise<string> {
    const { names, assistantName } = this.#options;
    return await readSlackText(text, {
      ofUser: async (id) => (id === this.#botUserId ? assistantName : names.ofUser(id)),
      ofChannel: (id) => names.ofChannel(id, user),
    });
  }

  /** The parts of a message that do not depend on what it says. */
  async #baseOf({
    channel,
    user,
    ts,
    thread,
  }: Pick<SlackMessage, 'channel' | 'user' | 'ts' | 'thread'>) {
    const { names } = this.#options;
    return {
      id: ts,
      jid: jidOf(channel),
      chatName: await names.ofChannel(channel, user),
      isDirect: isDirectChannel(channel),
      sender: user,
      senderName: await names.ofUser(user),
      isOwner: false,
      sentAt: Math.round(Number(ts) * 1_000),
      ...(thread === null ? {} : { thread }),
    };
  }

  /**
   * Names a thread by the words that began it. Those of the assistant's own message are quoted as well: the conversation
   * may not hold them any more, or never did.
   */
  async #threadOf({ channel, user, thread }: SlackMessage) {
    const { names, assistantName } = this.#options;
    const root = thread === null ? null : await names.rootOf(channel, thread);
    if (root === null || root.text === '') return { note: null, about: {} };
    const words = await this.#wordsIn(root.text, user);
    const line = words.replace(/\s+/g, ' ').trim();
    const isOurs = root.user === this.#botUserId;
    return {
      note: isOurs ? answerNote({ from: assistantName, words }) : null,
      about: { threadName: `thread "${shortened(line, THREAD_CHARACTERS)}"` },
    };
  }

  /** Hands a reaction to a message of the app's over. */
  async #react({ channel, user, ts, name }: Extract<SlackEvent, { kind: 'reacted' }>) {
    const jid = jidOf(channel);
    const messageId = this.#options.sent.idOf(jid, ts);
    if (messageId === null) return;
    const emoji = name === null ? null : emojiOf(name);
    await this.#options.events.onReaction?.({
      jid,
      sender: user,
      isOwner: false,
      messageId,
      emoji,
    });
  }

  async #reportChat(channel: string, user: string): Promise<void> {
    const { names, events } = this.#options;
    const name = await names.ofChannel(channel, user);
    const jid = jidOf(channel);
    if (this.#chats.has(jid) && (name === null || this.#chats.get(jid) === name)) return;
    await events.onChat({ jid, name, isDirect: isDirectChannel(channel) });
    this.#chats.set(jid, name);
  }

  async #read(message: SlackMessage): Promise<InboundMessage> {
    const { text, isAppMention, files, forwards, user } = message;
    const thread = await this.#threadOf(message);
    const words = await this.#wordsIn(text, user);
    const isEmpty = words === '' && files.length === 0 && forwards.length === 0;
    const notes = [
      thread.note,
      ...files.map(wordsFor),
      isEmpty ? unknownNote('a message without words') : null,
    ].filter((note) => note !== null);
    return {
      ...(await this.#baseOf(message)),
      ...thread.about,
      mentionsAssistant: isAppMention || mentionsUser(text, this.#botUserId),
      text: words,
      ...(notes.length === 0 ? {} : { notes }),
    };
  }

  #remember(key: string, storing: Promise<void>): void {
    const [oldest] = this.#messages.keys();
    if (this.#messages.size >= REMEMBERED && oldest !== undefined) this.#messages.delete(oldest);
    this.#messages.set(key, storing);
  }
}

export type InboxOptions = {
  readonly allowFrom: readonly string[];
  readonly assistantName: string;
  readonly events: ChannelEvents;
  readonly names: Names;
  readonly sent: Pick<SentMessages, 'idOf'>;
  readonly files: FileReferences;
  readonly seen: Pick<SeenMessages, 'note'>;
  /** Shows what became of a press. Never rejects. */
  readonly showOutcome: (press: Press, outcome: ChoiceOutcome) => Promise<void>;
};

/**
 * A message has one file for the host: of several, the others come before it as messages of their own, to be known
 * about.
 */
function withFiles(
  whole: InboundMessage,
  all: readonly SlackFile[],
): readonly (readonly [InboundMessage, SlackFile | null])[] {
  const [first, ...others] = all.filter((file) => wordsFor(file) === null);
  if (first === undefined) return [[whole, null]];
  const extras = others.map((file, at) => {
    const { notes: _, ...base } = whole;
    const own = { ...SILENT, id: `${whole.id}-${at + 2}` };
    return [{ ...base, ...own, attachments: [attachmentOf(file)] }, file] as const;
  });
  return [...extras, [{ ...whole, attachments: [attachmentOf(first)] }, first]];
}

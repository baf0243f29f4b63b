import type { FetchMessageObject, ImapFlow } from 'imapflow';
import type { ChannelClock, ChannelLog } from '../channel.ts';
import { EmailError } from './failure.ts';
import { imapClient } from './imap.ts';
import type { Records } from './records.ts';
import type { EmailAccount } from './settings.ts';

/** Mails at once: enough for a burst, and little enough to hold. */
const BATCH = 50;
/** So much of a mail is read; its files are fetched when somebody asks for them. */
const HEAD_BYTES = 256_000;
/** Mail that came so long before the first start is still new. */
const GRACE_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
/** A mail that breaks the line so often is left out. */
const ATTEMPTS = 3;

/** A mail as the server has it. */
export type FarMail = {
  readonly uid: number;
  readonly uidValidity: string;
  readonly size: number;
  readonly arrivedAt: number;
  /** The mail, or the beginning of a large one. */
  readonly source: Buffer;
  readonly structure: FetchMessageObject['bodyStructure'];
};

export type MailboxOptions = {
  readonly account: EmailAccount;
  readonly records: Pick<Records, 'cursor' | 'advance'>;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  /** Resolves with true when the mail is stored, with false when it was dropped. */
  readonly take: (mail: FarMail, client: ImapFlow) => Promise<boolean>;
};

/** Mails to take, in the order of their numbers; one that is gone has none. */
type Batch = { readonly uids: readonly number[]; readonly of: ReadonlyMap<number, FarMail> };

/** A mailbox, from one connection to the next: what is new in it is taken, in order. */
export class Mailbox {
  readonly #options: MailboxOptions;
  readonly #failures = new Map<string, number>();
  /** A batch has broken the line: mails are listed before they are read, until a batch is read again. */
  #listsFirst = false;
  #client: ImapFlow | null = null;
  #uidValidity = '';
  /** The number that the next mail was to get when this connection began. */
  #uidNext = 0;

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  /** The client of the present connection; null where there is none. */
  get client(): ImapFlow | null {
    return this.#client;
  }

  get uidValidity(): string {
    return this.#uidValidity;
  }

  /** Connects, and reads until the signal is aborted or the line is cut. */
  async open(signal: AbortSignal): Promise<{ readonly closed: Promise<void> }> {
    const { account, records } = this.#options;
    // Before the first connection: what comes while the server is away is not lost.
    records.cursor(account.mailbox);
    const client = imapClient(account);
    const end = () => client.close();
    signal.addEventListener('abort', end, { once: true });
    try {
      await client.connect();
      const mailbox = await client.mailboxOpen(account.mailbox).catch((cause: unknown) => {
        if (!client.usable) throw cause;
        const detail = `The mailbox ${account.mailbox} cannot be opened. Correct EMAIL_MAILBOX in .env and restart.`;
        throw new EmailError('MAILBOX', detail, { cause });
      });
      this.#uidValidity = String(mailbox.uidValidity);
      this.#uidNext = mailbox.uidNext;
    } catch (error) {
      signal.removeEventListener('abort', end);
      client.close();
      throw error;
    }
    this.#client = client;
    const closed = this.#read(client, signal).finally(() => {
      signal.removeEventListener('abort', end);
      this.#client = null;
      client.close();
    });
    return { closed };
  }

  async #read(client: ImapFlow, signal: AbortSignal): Promise<void> {
    const { account, clock } = this.#options;
    const stop = new AbortController();
    const all = AbortSignal.any([signal, stop.signal]);
    let hasNews = true;
    let wake = () => {};
    const onNews = () => {
      hasNews = true;
      wake();
    };
    client.on('exists', onNews);
    client.on('close', () => {
      stop.abort();
      wake();
    });
    while (!all.aborted && client.usable) {
      if (hasNews) {
        hasNews = false;
        await this.#takeNew(client, all);
        continue;
      }
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (client.capabilities.has('IDLE')) {
        // Ended by news, by a command of another's, or by the time that a line is kept silent.
        await Promise.race([client.idle(), news]);
      } else {
        await Promise.race([clock.pause(account.pollMs, all), news]);
        if (!all.aborted) await client.noop();
        // Some servers do not tell of news unasked.
        hasNews = true;
      }
    }
  }

  async #takeNew(client: ImapFlow, signal: AbortSignal): Promise<void> {
    for (;;) {
      const mails = (await this.#readNext(client)) ?? (await this.#readListed(client));
      if (mails === null) return;
      const stored: number[] = [];
      try {
        for (const uid of mails.uids) {
          if (signal.aborted) return;
          const mail = mails.of.get(uid);
          // Gone since it was listed.
          if (mail !== undefined && (await this.#options.take(mail, client))) stored.push(uid);
          this.#advance(uid);
        }
      } finally {
        if (stored.length > 0 && client.usable) {
          await client.messageFlagsAdd(stored.join(','), ['\\Seen'], { uid: true });
        }
      }
    }
  }

  /**
   * Reads the mails whose numbers follow that of the last one: mostly all that are new, without asking which those are.
   * Null where there is none, or the mailbox has not been looked through.
   */
  async #readNext(client: ImapFlow): Promise<Batch | null> {
    const { uidValidity, lastUid } = this.#options.records.cursor(this.#options.account.mailbox);
    if (this.#listsFirst || uidValidity !== this.#uidValidity) return null;
    this.#listsFirst = true;
    const of = await this.#fetch(client, `${lastUid + 1}:${lastUid + BATCH}`);
    this.#listsFirst = false;
    const uids = [...of.keys()]
      .filter((uid) => uid > lastUid && uid <= lastUid + BATCH)
      .sort((one, other) => one - other);
    return uids.length === 0 ? null : { uids, of };
  }

  /** Reads mails after they were listed: those after a gap in the numbers, and one by one what broke the line. */
  async #readListed(client: ImapFlow): Promise<Batch | null> {
    const uids = (await this.#newUids(client)).slice(0, BATCH);
    const [first] = uids;
    if (first === undefined) return null;
    const key = `${this.#uidValidity}:${first}`;
    const failures = this.#failures.get(key) ?? 0;
    if (failures >= ATTEMPTS) {
      this.#options.log.warn('a mail that cannot be read was left out', { uid: first });
      return { uids: [first], of: new Map() };
    }
    // After a failure one by one, so that a mail that breaks the line does so alone.
    const wanted = failures === 0 ? uids : [first];
    try {
      const of = await this.#fetch(client, wanted.join(','));
      this.#listsFirst = false;
      return { uids: wanted, of };
    } catch (error) {
      this.#failures.set(key, failures + 1);
      throw error;
    }
  }

  /** Returns the numbers of mails that are not taken yet, the oldest first. */
  async #newUids(client: ImapFlow): Promise<readonly number[]> {
    const { account, records } = this.#options;
    const { uidValidity, lastUid, since } = records.cursor(account.mailbox);
    if (uidValidity === this.#uidValidity) {
      const found = await client.search({ uid: `${lastUid + 1}:*` }, { uid: true });
      // The last mail is always in such a range.
      return (found || []).filter((uid) => uid > lastUid).sort((one, other) => one - other);
    }
    if (uidValidity !== null) {
      this.#options.log.warn(
        'the server has numbered the mailbox anew; mail of the last days is looked through',
        {},
      );
    }
    // A mail that was taken before has the same id, and is not taken twice.
    const from =
      uidValidity === null
        ? since - GRACE_MS
        : Math.max(since - GRACE_MS, this.#options.clock.now() - 7 * DAY_MS);
    const found = await client.search({ since: new Date(from - DAY_MS) }, { uid: true });
    const uids = (found || []).sort((one, other) => one - other);
    const young: number[] = [];
    if (uids.length > 0) {
      for await (const one of client.fetch(
        uids.join(','),
        { uid: true, internalDate: true },
        { uid: true },
      )) {
        // The times are of two clocks; what came since the connection is new whatever they show.
        const isYoung = new Date(one.internalDate ?? 0).getTime() >= from;
        if (isYoung || one.uid >= this.#uidNext) young.push(one.uid);
      }
    }
    young.sort((one, other) => one - other);
    const first = young[0] ?? Math.max(0, ...uids) + 1;
    records.advance(account.mailbox, this.#uidValidity, first - 1);
    return young;
  }

  async #fetch(client: ImapFlow, range: string): Promise<ReadonlyMap<number, FarMail>> {
    const mails = new Map<number, FarMail>();
    const query = {
      uid: true,
      size: true,
      internalDate: true,
      bodyStructure: true,
      source: { start: 0, maxLength: HEAD_BYTES },
    };
    for await (const one of client.fetch(range, query, { uid: true })) {
      // What a server tells unasked of a mail, such as its flags, comes without the mail.
      if (one.source === undefined && mails.has(one.uid)) continue;
      mails.set(one.uid, {
        uid: one.uid,
        uidValidity: this.#uidValidity,
        size: one.size ?? 0,
        arrivedAt: new Date(one.internalDate ?? this.#options.clock.now()).getTime(),
        source: one.source ?? Buffer.alloc(0),
        structure: one.bodyStructure,
      });
    }
    if (!client.usable)
      throw Object.assign(new Error('The line was cut.'), { code: 'NoConnection' });
    return mails;
  }

  #advance(uid: number): void {
    this.#options.records.advance(this.#options.account.mailbox, this.#uidValidity, uid);
  }
}

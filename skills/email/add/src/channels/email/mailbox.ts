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

/** A mailbox, from one connection to the next: what is new in it is taken, in order. */
export class Mailbox {
  readonly #options: MailboxOptions;
  readonly #failures = new Map<string, number>();
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
      const uids = (await this.#newUids(client)).slice(0, BATCH);
      if (uids.length === 0) return;
      const mails = await this.#fetch(client, uids);
      const stored: number[] = [];
      try {
        for (const uid of uids) {
          if (signal.aborted) return;
          const mail = mails.get(uid);
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

  async #fetch(client: ImapFlow, uids: readonly number[]): Promise<ReadonlyMap<number, FarMail>> {
    const [first = 0] = uids;
    const key = `${this.#uidValidity}:${first}`;
    const failures = this.#failures.get(key) ?? 0;
    // After a failure one by one, so that a mail that breaks the line does so alone.
    const wanted = failures === 0 ? uids : [first];
    if (failures >= ATTEMPTS) {
      this.#options.log.warn('a mail that cannot be read was left out', { uid: first });
      this.#advance(first);
      return new Map();
    }
    try {
      const mails = new Map<number, FarMail>();
      const query = {
        uid: true,
        size: true,
        internalDate: true,
        bodyStructure: true,
        source: { start: 0, maxLength: HEAD_BYTES },
      };
      for await (const one of client.fetch(wanted.join(','), query, { uid: true })) {
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
    } catch (error) {
      this.#failures.set(key, failures + 1);
      throw error;
    }
  }

  #advance(uid: number): void {
    this.#options.records.advance(this.#options.account.mailbox, this.#uidValidity, uid);
  }
}

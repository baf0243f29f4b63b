import type { REST } from '@discordjs/rest';
import { z } from 'zod';
import type { ChannelClock, ChannelStatus } from '../../channel.ts';
import { type ConnectFailure, stayConnected } from '../../kit/stay-connected.ts';
import { explainFailure, TOKEN_REFUSED } from '../failure.ts';
import type { SessionBook } from '../records/session-book.ts';
import type { GatewayEnd } from './close-codes.ts';
import { MESSAGE_CONTENT, PLAIN_INTENTS } from './frame.ts';
import { type Dispatch, type Line, openLine, type SavedSession } from './session.ts';

const Gateway = z.looseObject({
  url: z.string(),
  session_start_limit: z
    .looseObject({ remaining: z.int(), reset_after: z.number() })
    .default({ remaining: 1, reset_after: 0 }),
});

export type ConnectionOptions = {
  readonly api: REST;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly clock: ChannelClock;
  readonly book: SessionBook;
  /** Asks for what the bot may do, before each new session. Returns true where it may read messages. */
  readonly arrive: () => Promise<boolean>;
  /** Tells the status of a line that is up. */
  readonly connected: (readsMessages: boolean) => ChannelStatus;
  /** Told of each event as soon as it comes. */
  readonly notice: (event: Dispatch) => void;
  /** Resolves when the event is stored; rejects where it is not, and must come again. */
  readonly take: (event: Dispatch) => Promise<void>;
  readonly report: (status: ChannelStatus) => void;
};

/**
 * Opens lines to the gateway one after the other until the signal is aborted, or Discord refuses the bot. Never
 * rejects. What is stored counts as received: a line begins after it.
 */
export async function stayOnGateway(options: ConnectionOptions): Promise<void> {
  const { signal, clock, report, connected } = options;
  const trying: Trying = { readsMessages: false, isRefusedContent: false };
  await stayConnected({
    title: 'Discord',
    clock,
    signal,
    open: () => openOne(options, trying),
    explain: (error) => (error instanceof Ended ? error.failure : explainFailure(error)),
    report: (status) =>
      report(status.state === 'connected' ? connected(trying.readsMessages) : status),
  });
}

/** State that is kept from one line to the next. */
type Trying = {
  readsMessages: boolean;
  /** Discord has said that the intent is off, whatever it says of the application. */
  isRefusedContent: boolean;
};

/** Thrown where a line has ended, with what follows from that. */
class Ended extends Error {
  override readonly name = 'Ended';
  readonly failure: ConnectFailure;

  constructor(failure: ConnectFailure) {
    super(failure.status.detail ?? 'The line to Discord has ended.');
    this.failure = failure;
  }
}

async function openOne(
  options: ConnectionOptions,
  trying: Trying,
): Promise<{ readonly closed: Promise<never> }> {
  const { api, book, clock, signal } = options;
  // Also before a resumed session: it tells whether the token is good, and who the bot is.
  const mayRead = await options.arrive();
  const resume = book.load();
  const { url, session_start_limit: starts } =
    resume === null ? Gateway.parse(await api.get('/gateway/bot')) : atOnce(resume);
  if (starts.remaining === 0) throw new Ended(tooManyStarts(starts.reset_after));
  trying.readsMessages = mayRead && !trying.isRefusedContent;
  const queue = inOrder(options, (cause) => line.end({ kind: 'lost', cause }));
  const line: Line = openLine({
    url,
    token: options.token,
    intents: PLAIN_INTENTS | (trying.readsMessages ? MESSAGE_CONTENT : 0),
    resume,
    random: () => clock.random(),
    onDispatch: queue.add,
  });
  const leave = () => {
    queue.stop();
    line.end({ kind: 'left' });
  };
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const closed = line.ended.then(async (end): Promise<never> => {
    signal.removeEventListener('abort', leave);
    // What was received counts, and is not asked for again.
    await queue.idle();
    throw new Ended(failureOf(end, { book, clock, trying, wasResumed: resume !== null }));
  });
  if ((await line.ready) === null) await closed;
  return { closed };
}

function atOnce({ resumeUrl }: SavedSession): z.output<typeof Gateway> {
  return { url: resumeUrl, session_start_limit: { remaining: 1, reset_after: 0 } };
}

/** Events on their way to the disk. */
type EventQueue = {
  readonly add: (event: Dispatch) => void;
  /** Begins nothing more: what waits comes again over another line. */
  readonly stop: () => void;
  readonly idle: () => Promise<void>;
};

/**
 * Stores events one after the other. After one that could not be stored the line ends, and all from that one on come
 * again over the next.
 */
function inOrder(
  { notice, take, book }: Pick<ConnectionOptions, 'notice' | 'take' | 'book'>,
  fail: (cause: string) => void,
): EventQueue {
  let last: Promise<void> = Promise.resolve();
  let isStopped = false;
  async function store(event: Dispatch): Promise<void> {
    if (isStopped) return;
    try {
      await take(event);
      // A session is kept only when what was missed before it is stored too.
      if (event.session !== null) book.begin(event.session);
      book.advance(event.sequence);
    } catch {
      isStopped = true;
      fail('a message could not be stored');
    }
  }
  return {
    add(event) {
      notice(event);
      last = last.then(() => store(event));
    },
    stop() {
      isStopped = true;
    },
    idle: () => last,
  };
}

function failureOf(
  end: GatewayEnd,
  {
    book,
    clock,
    trying,
    wasResumed,
  }: Pick<ConnectionOptions, 'book' | 'clock'> & {
    readonly trying: Trying;
    readonly wasResumed: boolean;
  },
): ConnectFailure {
  switch (end.kind) {
    case 'left':
    case 'moved':
      return passing(null);
    case 'lost':
      return passing(`The connection to Discord was lost (${end.cause}). Trying again.`);
    case 'invalid':
      book.drop();
      // Discord asks for a pause of one to five seconds before a new session.
      return { ...passing(null), waitMs: wasResumed ? 1_000 + 4_000 * clock.random() : null };
    case 'token':
      book.drop();
      return final(TOKEN_REFUSED);
    case 'intents':
      book.drop();
      if (!trying.readsMessages) return final(refusal('disallowed intents'));
      trying.isRefusedContent = true;
      return { ...passing(null), waitMs: null };
    case 'refused':
      book.drop();
      return final(refusal(end.cause));
  }
}

function refusal(cause: string): string {
  return `Discord refuses the bot (${cause}). Look at its page on discord.com/developers/applications, and restart.`;
}

function tooManyStarts(resetAfterMs: number): ConnectFailure {
  const minutes = Math.ceil(resetAfterMs / 60_000);
  const detail = `The bot has begun too many sessions today. Discord lets it in again in ${minutes} min.`;
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs: resetAfterMs };
}

function passing(detail: string | null): ConnectFailure {
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs: null };
}

function final(detail: string): ConnectFailure {
  return { status: { state: 'refused', detail }, isFinal: true, waitMs: null };
}

import * as webApi from '@slack/web-api';
import type {
  ChannelClock,
  ChannelEvents,
  ChannelLog,
  ChannelStatus,
  FetchedAttachment,
} from '../channel.ts';
import type { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { stayConnected } from '../kit/stay-connected.ts';
import type { Attempts } from './attempts.ts';
import { catchUp } from './catch-up.ts';
import { createDelivery, type Sending, takeBack } from './delivery.ts';
import { fetchFile } from './download.ts';
import { explainFailure } from './failure.ts';
import type { FileReferences } from './file-references.ts';
import { Inbox } from './inbox.ts';
import { slackLogger } from './logger.ts';
import { Names } from './names.ts';
import { showOutcome } from './press.ts';
import type { SeenMessages } from './seen-messages.ts';
import { openSession } from './session.ts';

/** A request that takes longer is of unknown outcome. */
const REQUEST_MS = 15_000;

/** Slack wants an answer in three seconds; a message without a name is better than one too late. */
const LOOK_UP_MS = 2_000;

/** The pause where Slack, or a gateway in between, asks for one without a time. */
const UNNAMED_PAUSE_S = 1;

export type WorkspaceOptions = {
  readonly botToken: string;
  readonly appToken: string;
  readonly allowFrom: readonly string[];
  readonly apiUrl: string;
  readonly assistantName: string;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
  readonly attempts: Attempts;
  readonly files: FileReferences;
  readonly seen: SeenMessages;
  /** The folder of files that are fetched. */
  readonly folder: string;
  readonly events: ChannelEvents;
  readonly report: (status: ChannelStatus) => void;
};

/** The connection, from `connect` to `disconnect`. */
export type Workspace = {
  readonly delivery: PartDelivery<Sending>;
  readonly takeBack: (jid: string, id: string) => Promise<void>;
  readonly fetchFile: (fileId: string) => Promise<FetchedAttachment>;
  /** Resolves with the first connection, or the first reason why there is none. */
  readonly firstOutcome: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Connects to Slack, and stays connected until closed or refused. */
export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { log, clock, report, sent, attempts } = options;
  const stop = new AbortController();
  const clientOptions = {
    slackApiUrl: options.apiUrl,
    logger: slackLogger(log),
    // Whether to try again is decided here: some requests must not be repeated, all must end in time.
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: REQUEST_MS,
    fetch: cancellableFetch(stop.signal),
  };
  const web = new webApi.WebClient(options.botToken, clientOptions);
  const lookUp = new webApi.WebClient(options.botToken, { ...clientOptions, timeout: LOOK_UP_MS });
  const delivery = createDelivery({ web, clock, sent, attempts });
  const inbox = new Inbox({
    ...options,
    names: new Names(lookUp, log),
    showOutcome: (press, outcome) => showOutcome(web, press, outcome),
  });
  const { promise: firstOutcome, resolve } = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const connected = stayConnected({
    title: 'Slack',
    explain: explainFailure,
    signal: leaving.signal,
    clock,
    open: async () => {
      const { user_id: botUserId = '' } = await web.auth.test();
      inbox.arrive(botUserId);
      // Before the line is open: what comes over it is newer.
      const take = (body: unknown) => inbox.take(body);
      await catchUp({ web, seen: options.seen, clock, log, signal: leaving.signal, take });
      return openSession({
        appToken: options.appToken,
        clientOptions,
        log,
        take: (body) => inbox.take(body),
        takePress: (body) => inbox.takePress(body),
        signal: leaving.signal,
      });
    },
    report: (status) => {
      report(status);
      resolve();
    },
  }).then(resolve);
  return {
    delivery,
    takeBack: (jid, id) => takeBack({ web, sent, attempts }, { jid, id }),
    fetchFile(id) {
      const { botToken, apiUrl, folder } = options;
      return fetchFile({ web, botToken, apiUrl, folder, signal: stop.signal }, id);
    },
    firstOutcome,
    async close() {
      // What is in hand is stored and acknowledged before the line is closed.
      await Promise.all([inbox.close(), delivery.close()]);
      leaving.abort();
      stop.abort();
      await connected;
      report({ state: 'stopped', detail: null });
    },
  };
}

function cancellableFetch(stop: AbortSignal): typeof fetch {
  return async (input, init) => {
    const signals = init?.signal == null ? [stop] : [stop, init.signal];
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    return response.status === 429 ? withPause(response) : response;
  };
}

/** Slack's client takes a refusal that names no time for a request of unknown outcome. */
function withPause({ status, headers, body }: Response): Response {
  const named = Number.parseInt(headers.get('retry-after') ?? '', 10);
  const seconds = Number.isNaN(named) ? UNNAMED_PAUSE_S : named;
  return new Response(body, { status, headers: { 'retry-after': String(seconds) } });
}

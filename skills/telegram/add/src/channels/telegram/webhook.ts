import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UserFromGetMe, WebhookInfo } from 'grammy/types';
import { type Api, GrammyError } from 'grammy/web';
import { z } from 'zod';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { MESSENGER_BOUNDS, readJson } from '../../lib/bounded-json.ts';
import type { ChannelStatus } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { explainFailure } from './failure.ts';
import { type Polling, UPDATES } from './polling.ts';
import { forGrammy } from './signal.ts';
import { emptyInbox, type UpdateInbox } from './update-inbox.ts';

/** How often Telegram is asked whether it still delivers here. */
const LOOK_MS = 300_000;
/** The same while it cannot. */
const PROBLEM_LOOK_MS = 30_000;

const Numbered = z.looseObject({ update_id: z.int().nonnegative() });

/**
 * Returns the word that Telegram sends along with each update. It follows from the token, so a restart knows it without
 * keeping it, and whoever knows the address alone does not.
 */
export function secretOf(token: string): string {
  return createHmac('sha256', token).update('patchclaw webhook').digest('hex');
}

/** Returns the route to which Telegram delivers. It answers when the update is on disk: until then Telegram repeats it. */
export function webhookRoute(token: string, inbox: UpdateInbox): Route {
  const secret = Buffer.from(secretOf(token));
  return {
    method: 'POST',
    path: '/updates',
    access: 'own',
    maxBytes: MESSENGER_BOUNDS.maxBytes,
    handle: async ({ headers, body }: HttpRequest): Promise<HttpResponse> => {
      const given = Buffer.from(String(headers['x-telegram-bot-api-secret-token'] ?? ''));
      if (given.length !== secret.length || !timingSafeEqual(given, secret)) {
        return { status: 401 };
      }
      const text = body.toString();
      const read = await readJson(body, MESSENGER_BOUNDS);
      const { data: update } = Numbered.safeParse(read.kind === 'value' ? read.value : null);
      if (update === undefined) return { status: 400 };
      inbox.keep(update.update_id, text);
      return {};
    },
  };
}

type Receiving = Omit<Polling, 'longPollSeconds' | 'before'> & {
  readonly inbox: UpdateInbox;
  readonly token: string;
  /** The address to which Telegram delivers. */
  readonly address: string;
};

/** Has Telegram deliver to the address, and hands over what comes, until the signal is aborted. Never rejects. */
export async function receiveUpdates(receiving: Receiving): Promise<void> {
  const { signal, report, clock, inbox } = receiving;
  let me: UserFromGetMe | null = null;
  let failures = 0;
  let lookAt = 0;
  while (!signal.aborted) {
    try {
      me ??= await receiving.api.getMe(forGrammy(signal));
      if (clock.now() >= lookAt || clock.now() < lookAt - LOOK_MS) {
        const status = await look(receiving);
        report(status);
        lookAt = clock.now() + (status.state === 'connected' ? LOOK_MS : PROBLEM_LOOK_MS);
      }
      if (await emptyInbox({ ...receiving, me })) {
        failures = 0;
        const woken = new AbortController();
        const both = AbortSignal.any([signal, woken.signal]);
        const left = Math.max(0, lookAt - clock.now());
        // An update that came since the inbox was looked at is seen at once.
        if (inbox.waiting().length === 0) {
          await Promise.race([inbox.next(both), clock.pause(left, both)]);
        }
        woken.abort();
        continue;
      }
    } catch (error) {
      if (signal.aborted) break;
      const failure = explainWebhookFailure(error);
      report(failure.status);
      if (failure.isFinal) return;
    }
    await clock.pause(backoffMs(failures, clock.random()), signal);
    failures += 1;
  }
}

/** Sets the webhook where Telegram has another one or none, and says how it does. What waits at Telegram is kept. */
async function look({ api, signal, token, address }: Receiving): Promise<ChannelStatus> {
  const info = await api.getWebhookInfo(forGrammy(signal));
  const allowed = info.allowed_updates ?? [];
  const isSame = info.url === address && UPDATES.every((name) => allowed.includes(name));
  // Telegram does not tell the secret: one that somebody else has set shows by updates that are refused here.
  if (isSame && !isRefusedHere(info)) {
    const problem = deliveryProblem(info);
    return problem === null
      ? { state: 'connected', detail: null }
      : { state: 'failed', detail: problem };
  }
  await setWebhook(api, { token, address, signal });
  return { state: 'connected', detail: null };
}

async function setWebhook(
  api: Api,
  {
    token,
    address,
    signal,
  }: { readonly token: string; readonly address: string; readonly signal: AbortSignal },
): Promise<void> {
  const options = {
    secret_token: secretOf(token),
    allowed_updates: UPDATES,
    drop_pending_updates: false,
  };
  await api.setWebhook(address, options, forGrammy(signal));
}

function isRefusedHere({
  pending_update_count: count,
  last_error_message: message = '',
}: WebhookInfo): boolean {
  return count > 0 && message.includes('401');
}

/** Says why updates wait at Telegram; null where none do. */
export function deliveryProblem(info: WebhookInfo): string | null {
  const { pending_update_count: count, last_error_message: message } = info;
  if (count === 0 || message === undefined) return null;
  return (
    `Telegram cannot deliver to TELEGRAM_WEBHOOK_URL (${message}); ${count} waiting. ` +
    'Telegram tries again by itself. Check the web server or tunnel in front of the assistant.'
  );
}

function explainWebhookFailure(error: unknown) {
  // An address that Telegram does not accept, or cannot resolve now.
  if (error instanceof GrammyError && error.error_code === 400) {
    const detail = `Telegram does not accept TELEGRAM_WEBHOOK_URL (${error.description}). Trying again.`;
    return { status: { state: 'failed', detail }, isFinal: false, waitMs: null } as const;
  }
  return explainFailure(error);
}

import type { WebhookInfo } from 'grammy/types';
import { Api, GrammyError } from 'grammy/web';
import { causeInWords } from '../kit/cause.ts';
import { causeOf } from './failure.ts';
import { chatNameOf } from './message.ts';
import { forGrammy } from './signal.ts';

/** A bot, or one sentence about why it cannot be told. */
export type Identity =
  | { readonly ok: true; readonly username: string }
  | { readonly ok: false; readonly message: string };

/**
 * Asks the Bot API whose token it is, by `getMe`. Changes nothing there, also for a bot that is polled.
 *
 * @returns never an exception, and nothing that holds the token
 */
export async function identify(
  { token, apiRoot }: { readonly token: string; readonly apiRoot: string },
  timeoutMs: number,
): Promise<Identity> {
  const where = new URL(apiRoot).host;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const { username } = await new Api(token, { apiRoot }).getMe(forGrammy(timeout));
    return { ok: true, username };
  } catch (error) {
    if (timeout.aborted) {
      return refused(`Telegram (${where}) said nothing for ${Math.round(timeoutMs / 1_000)} s.`);
    }
    if (!(error instanceof GrammyError)) {
      return refused(`Telegram (${where}) cannot be reached (${causeInWords(causeOf(error))}).`);
    }
    // Telegram answers 404 to a token that has not even the shape of one.
    const isUnknown = error.error_code === 401 || error.error_code === 404;
    return refused(
      isUnknown
        ? `Telegram (${where}) does not know the bot token.`
        : `Telegram (${where}) answers with error ${error.error_code}.`,
    );
  }
}

/** Asks where Telegram delivers the updates of a bot; null where it does not say so. */
export async function webhookOf(
  { token, apiRoot }: { readonly token: string; readonly apiRoot: string },
  timeoutMs: number,
): Promise<WebhookInfo | null> {
  const timeout = AbortSignal.timeout(timeoutMs);
  return await new Api(token, { apiRoot }).getWebhookInfo(forGrammy(timeout)).catch(() => null);
}

/** Asks who has an id; null where Telegram does not say whether anybody has it. */
export async function whoHas(
  { token, apiRoot }: { readonly token: string; readonly apiRoot: string },
  id: string,
  timeoutMs: number,
): Promise<{ readonly name: string | null } | 'nobody here' | null> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const chat = await new Api(token, { apiRoot }).getChat(id, forGrammy(timeout));
    return { name: chatNameOf(chat) };
  } catch (error) {
    // A bot knows those who have written to it, and no others.
    const isUnknown = error instanceof GrammyError && error.error_code === 400;
    return isUnknown ? 'nobody here' : null;
  }
}

function refused(message: string): Identity {
  return { ok: false, message };
}

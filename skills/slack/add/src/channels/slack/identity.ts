import * as webApi from '@slack/web-api';
import { causeInWords } from '../kit/cause.ts';
import { readFailure } from './failure.ts';
import { slackLogger } from './logger.ts';

/** An app and its workspace, or one sentence about why they cannot be told. */
export type Identity =
  | { readonly ok: true; readonly user: string; readonly team: string }
  | { readonly ok: false; readonly message: string };

type Limits = { readonly apiUrl: string; readonly timeoutMs: number };

/**
 * Asks Slack whose bot token it is, by `auth.test`. Changes nothing there.
 *
 * @returns never an exception, and nothing that holds the token
 */
export async function identify(botToken: string, limits: Limits): Promise<Identity> {
  try {
    const { user = '?', team = '?' } = await clientOf(botToken, limits).auth.test();
    return { ok: true, user, team };
  } catch (error) {
    const what = 'the bot token. Copy it from OAuth & Permissions: it begins with xoxb-';
    return { ok: false, message: sentenceOf(error, what, limits) };
  }
}

/**
 * Asks Slack for a place to connect to, which needs a right app token and socket mode. Connects nothing.
 *
 * @returns one sentence about what is wrong; null for nothing
 */
export async function problemOfAppToken(appToken: string, limits: Limits): Promise<string | null> {
  try {
    await clientOf(appToken, limits).apps.connections.open();
    return null;
  } catch (error) {
    const what =
      'the app token. Make one on Basic Information, with connections:write: it begins with xapp-; ' +
      'and switch socket mode on';
    return sentenceOf(error, what, limits);
  }
}

function clientOf(token: string, { apiUrl, timeoutMs }: Limits): webApi.WebClient {
  return new webApi.WebClient(token, {
    slackApiUrl: apiUrl,
    logger: slackLogger({ info: () => {}, warn: () => {} }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
  });
}

function sentenceOf(error: unknown, what: string, { apiUrl }: Limits): string {
  const where = new URL(apiUrl).host;
  const failure = readFailure(error);
  switch (failure.kind) {
    case 'refused':
      return `Slack (${where}) refuses ${what} (${failure.error}).`;
    case 'rate-limited':
      return `Slack (${where}) asks for a pause. Try again in a minute.`;
    case 'unreachable':
      return `Slack (${where}) cannot be reached (${causeInWords(failure.cause)}).`;
  }
}

import type { REST } from '@discordjs/rest';
import { z } from 'zod';
import { causeInWords } from '../kit/cause.ts';
import { openApi } from './api.ts';
import { readFailure } from './failure.ts';

/** A bot and its application. */
export type Bot = {
  readonly id: string;
  readonly name: string;
  readonly applicationId: string;
  /** False where the portal's switch MESSAGE CONTENT INTENT is off. */
  readonly readsMessages: boolean;
};

/** A bot, or one sentence about why it cannot be told. */
export type Identity =
  | ({ readonly ok: true } & Bot)
  | { readonly ok: false; readonly message: string };

const User = z.looseObject({ id: z.string(), username: z.string() });
const Application = z.looseObject({ id: z.string(), flags: z.int().default(0) });

/** GATEWAY_MESSAGE_CONTENT, and the same for bots in fewer than a hundred servers. */
const READS_MESSAGES = (1 << 18) | (1 << 19);

/** Asks Discord who the bot is. Rejects with what the library throws. */
export async function askWho(api: REST): Promise<Bot> {
  const user = User.parse(await api.get('/users/@me'));
  const application = Application.parse(await api.get('/applications/@me'));
  return {
    id: user.id,
    name: user.username,
    applicationId: application.id,
    readsMessages: (application.flags & READS_MESSAGES) !== 0,
  };
}

/**
 * Asks Discord whose token it is, by `GET /users/@me` and `GET /applications/@me`. Changes nothing there, also for a
 * bot that is connected.
 *
 * @returns never an exception, and nothing that holds the token
 */
export async function identify(
  { token, apiUrl }: { readonly token: string; readonly apiUrl: string },
  timeoutMs: number,
): Promise<Identity> {
  const where = new URL(apiUrl).host;
  try {
    return { ok: true, ...(await askWho(openApi({ token, apiUrl }, timeoutMs))) };
  } catch (error) {
    if (error instanceof z.ZodError) {
      return { ok: false, message: `Discord (${where}) answers with something unexpected.` };
    }
    const failure = readFailure(error);
    switch (failure.kind) {
      case 'token':
        return { ok: false, message: `Discord (${where}) does not know the bot token.` };
      case 'refused':
        return { ok: false, message: `Discord (${where}) answers: ${failure.words}.` };
      case 'rate-limited':
        return {
          ok: false,
          message: `Discord (${where}) asks for a pause. Try again in a minute.`,
        };
      case 'unreachable':
        return {
          ok: false,
          message: `Discord (${where}) cannot be reached (${causeInWords(failure.cause)}).`,
        };
    }
  }
}

/** Add Reactions, View Channel, Send Messages, Attach Files, Read Message History, Send Messages in Threads. */
const PERMISSIONS = [6n, 10n, 11n, 15n, 16n, 38n].reduce((all, bit) => all | (1n << bit), 0n);

/** Returns the address at which the owner adds the bot to a server, with the permissions that it needs. */
export function inviteLink(applicationId: string): string {
  const query = `client_id=${applicationId}&scope=bot+applications.commands&permissions=${PERMISSIONS}`;
  return `https://discord.com/oauth2/authorize?${query}`;
}

/** Tells what to switch on, where the bot may not read messages. */
export const NO_MESSAGE_CONTENT =
  'In servers the bot reads only messages that mention it: switch on MESSAGE CONTENT INTENT on the page Bot of ' +
  'your application (discord.com/developers/applications) and restart, for answers to a word, to replies, or to all.';

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import {
  type AnthropicRequest,
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../src/testing/model/anthropic.ts';

/**
 * The far ends that the skills' own tests talk to. They are imported by address, not by name: where a
 * tree is proved, skills that are not in it are not there, and its types must hold all the same.
 */
const SKILLS = resolve(import.meta.dirname, '../../skills');

type Until = (isSo: () => boolean, timeoutMs?: number) => Promise<void>;

type Person = { readonly id: number; readonly first_name: string };
type Chat = { readonly id: number; readonly type: 'private' };

type SentOnTelegram = {
  readonly message_id: number;
  readonly chatId: number;
  readonly text: string;
  readonly buttons: readonly { readonly text: string; readonly callback_data: string }[];
  readonly file?: { readonly name: string; readonly text: string };
};

export interface TelegramServer extends AsyncDisposable {
  readonly url: string;
  readonly sent: readonly SentOnTelegram[];
  readonly calls: readonly { readonly method: string }[];
  /** Updates that no bot has confirmed. */
  readonly pending: readonly unknown[];
  readonly until: Until;
  sendText(from: Person, chat: Chat, text: string): number;
  sendPhoto(from: Person, chat: Chat, content: Uint8Array, caption: string): number;
  press(from: Person, message: SentOnTelegram, text: string): number;
}

const TelegramModule = z.object({
  startBotApi: z.custom<(options: { token: string }) => Promise<TelegramServer>>(isFunction),
});

const TOKEN = '4242:AAtest_token-for_a_bot_of_nobody';
export const ADA: Person = { id: 1001, first_name: 'Ada' };
export const EVE: Person = { id: 6666, first_name: 'Eve' };

/** Somebody's own chat with the bot. */
export function directChat({ id }: Person): Chat {
  return { id, type: 'private' };
}

/** Telegram, and the settings under which Ada may write to the bot. */
export async function startTelegram() {
  const { startBotApi } = TelegramModule.parse(await importFrom('telegram/tests/bot-api.ts'));
  const server = await startBotApi({ token: TOKEN });
  const settings = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: server.url,
  };
  return { server, settings };
}

async function importFrom(path: string): Promise<unknown> {
  return await import(pathToFileURL(join(SKILLS, path)).href);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** A model that runs `shell: <command>` and answers with its output; anything else is repeated. */
export const echoOrShell: AnthropicScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
  const said = newestMessage(request);
  if (!said.startsWith('shell: ')) return [{ type: 'text', text: `Heard: ${said}` }];
  return [{ type: 'tool_use', name: 'shell', input: { command: said.slice('shell: '.length) } }];
};

/**
 * Returns the last message, without the lines that the host puts before it, and without its time and sender.
 */
function newestMessage(request: AnthropicRequest): string {
  const lastLine = lastUserText(request).split('\n').at(-1) ?? '';
  return lastLine.replace(/^\[[^\]]*\] [^:]*: /, '');
}

import type { BotCommand, BotCommandScope } from 'grammy/types';
import { type Api, GrammyError } from 'grammy/web';
import { shortened } from '../../lib/graphemes.ts';
import type { ChannelClock, ChannelLog, ChatCommand } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { causeOf, retryAfterMs } from './failure.ts';
import { forGrammy } from './signal.ts';

const MOST = 100;
const LONGEST_HELP = 256;
/** A menu is an extra: without it every command can still be typed. */
const ATTEMPTS = 5;

/** The menu of some chats: what opens there at a slash. */
export type Menu = { readonly scope: BotCommandScope; readonly commands: readonly BotCommand[] };

/**
 * Makes the menus of the host's commands: those of the owner's own chats are shown in the owner's chat alone, the
 * others everywhere else. A word with an argument in its name, `add-<skill>`, takes it after a space.
 */
export function menusOf(commands: readonly ChatCommand[], owner: string | null): readonly Menu[] {
  const elsewhere = botCommands(commands.filter(({ chats }) => chats !== 'main'));
  const scopes = [{ type: 'all_private_chats' }, { type: 'all_group_chats' }] as const;
  const menus: Menu[] = scopes.map((scope) => ({ scope, commands: elsewhere }));
  if (owner === null) return menus;
  const own = botCommands(commands.filter(({ chats }) => chats !== 'groups'));
  return [...menus, { scope: { type: 'chat', chat_id: Number(owner) }, commands: own }];
}

function botCommands(commands: readonly ChatCommand[]): readonly BotCommand[] {
  return commands
    .map(({ name, help }) => ({ command: menuName(name), description: descriptionOf(help) }))
    .filter(({ command }) => /^[a-z0-9_]{1,32}$/.test(command))
    .filter(({ command }, at, all) => all.findIndex((one) => one.command === command) === at)
    .slice(0, MOST);
}

/** Telegram takes no hyphen in a command. */
function menuName(name: string): string {
  return headOf(name).replace(/-$/, '').replaceAll('-', '_');
}

/** Returns a command's name up to its argument: `add-` of `add-<skill>`. */
function headOf(name: string): string {
  return name.split('<', 1)[0] ?? name;
}

function descriptionOf(help: string): string {
  return help === '' ? '…' : shortened(help, LONGEST_HELP);
}

/**
 * Has Telegram show these menus, where it shows others. Those that the owner has made with @BotFather are shown where
 * there is none of these, and are left alone. Never rejects.
 */
export async function showMenus(
  menus: readonly Menu[],
  parts: {
    readonly api: Api;
    readonly clock: ChannelClock;
    readonly log: ChannelLog;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { api, clock, log, signal } = parts;
  let failures = 0;
  for (const menu of menus) {
    while (!signal.aborted) {
      try {
        await show(api, menu, signal);
        break;
      } catch (error) {
        const isTooMany = error instanceof GrammyError && error.error_code === 429;
        failures += 1;
        // A former chat of the owner's may be gone; the menus of the others are there all the same.
        const isRefused = error instanceof GrammyError && error.error_code < 500 && !isTooMany;
        if (isRefused || failures >= ATTEMPTS) {
          if (!signal.aborted)
            log.info('a menu of commands is not shown', { cause: saidIn(error) });
          break;
        }
        const waitMs = isTooMany ? retryAfterMs(error) : backoffMs(failures - 1, clock.random());
        await clock.pause(waitMs, signal);
      }
    }
  }
}

async function show(api: Api, { scope, commands }: Menu, signal: AbortSignal): Promise<void> {
  const shown = await api.getMyCommands({ scope }, forGrammy(signal));
  if (textOf(shown) === textOf(commands)) return;
  await api.setMyCommands([...commands], { scope }, forGrammy(signal));
}

function textOf(commands: readonly BotCommand[]): string {
  return commands.map(({ command, description }) => `${command} ${description}\n`).join('');
}

function saidIn(error: unknown): string {
  return error instanceof GrammyError ? error.description : causeOf(error);
}

/**
 * Writes a command as it is typed elsewhere. In a group the menu writes `/help@andy_bot`; and a name with hyphens,
 * which Telegram does not take, is `/add_telegram`. The button *Start*, with which every chat begins, asks for help.
 * Other words that begin with a slash stay as they are.
 */
export function typedCommand(
  text: string,
  { username, commands }: { readonly username: string; readonly commands: readonly ChatCommand[] },
): string {
  const [whole = '', word = '', handle] = /^\/(\w+)(@\w+)?(?=\s|$)/.exec(text) ?? [];
  if (handle !== undefined && handle.toLowerCase() !== `@${username}`.toLowerCase()) return text;
  const has = (name: string) => commands.some((one) => one.name === name);
  if (word === 'start' && !has('start') && has('help')) return '/help';
  const name = word.replaceAll('_', '-');
  const isOne = word.includes('_') && commands.some((one) => calls(name.toLowerCase(), one.name));
  return `${word === '' ? '' : '/'}${isOne ? name : word}${text.slice(whole.length)}`;
}

function calls(word: string, name: string): boolean {
  const head = headOf(name);
  return head === name ? word === name : word.startsWith(head) && word.length > head.length;
}

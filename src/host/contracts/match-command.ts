import type { ChatCommand } from '../../channels/channel.ts';
import { nearestNames } from '../../lib/nearest-names.ts';
import type { Group } from '../../store/store.ts';
import type { Command, OwnerCommand } from './command.ts';

/** Tells whether a text is meant as a command: `/word`, alone or before a space. No path looks like that. */
export function isCommandText(text: string): boolean {
  return /^\/[a-z][a-z0-9-]*(\s|$)/i.test(text.trim());
}

/**
 * Returns a text from the owner's own chat as the command that it means: `help`, `?` or a bare slash means `/help`.
 */
export function asCommand(text: string): string {
  return /^(\/|\/?\s*(help|\?))$/i.test(text.trim()) ? '/help' : text.trim();
}

export type CommandMatch<C extends Pick<Command, 'name'>> =
  | { readonly kind: 'found'; readonly command: C; readonly argument: string }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] };

/** Finds the command a text calls; `/add-telegram` and `/add telegram` call `add-<skill>`. */
export function matchCommand<C extends Pick<Command, 'name'>>(
  text: string,
  commands: readonly C[],
): CommandMatch<C> {
  const typed = text.trim().slice(1);
  const word = typed.split(/\s/, 1)[0]?.toLowerCase() ?? '';
  const rest = typed.slice(word.length).trim();
  for (const command of commands) {
    const [head = '', parameter] = command.name.split(/<[^>]*>/);
    if (parameter === undefined) {
      if (word === head) return { kind: 'found', command, argument: rest };
    } else if (word.startsWith(head) && word.length > head.length) {
      return { kind: 'found', command, argument: `${word.slice(head.length)} ${rest}`.trim() };
    } else if (`${word}-` === head && rest !== '') {
      return { kind: 'found', command, argument: rest };
    }
  }
  const names = commands.map((command) => command.name);
  return { kind: 'unknown', nearest: nearestNames(word, names, 3) };
}

/**
 * Tells whether a command works in a chat: the owner's in their own by default, members' in every registered
 * one.
 */
export function worksIn(command: Command, { isMain }: Pick<Group, 'isMain'>): boolean {
  const { chats: where } = inChats(command);
  return where === 'all' || (where === 'main') === isMain;
}

/** Returns a command as a channel shows it. */
export function inChats({ name, help, scope, chats }: Command): ChatCommand {
  return { name, help, chats: chats ?? (scope === 'owner' ? 'main' : 'all') };
}

/** Returns the owner's commands of all commands; with a chat, those that work there. */
export function ownerCommands(
  commands: readonly Command[],
  chat?: Pick<Group, 'isMain'>,
): readonly OwnerCommand[] {
  return commands.filter(
    (command): command is OwnerCommand =>
      command.scope === 'owner' && (chat === undefined || worksIn(command, chat)),
  );
}

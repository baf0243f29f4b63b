import { join } from 'node:path';
import { chatNames } from '../lib/chat-names.ts';
import { nearestNames } from '../lib/nearest-names.ts';
import { type ChatOverview, withReadOnlyQueries } from '../store/read-only-queries.ts';
import { printable } from '../supervisor/console/printable.ts';
import { defineVerb, VerbError } from '../verb.ts';
import { looked, STOPPED, tellOrLook, typed } from './assistant/assistant-answer.ts';
import { unknownChat } from './assistant/named-chat.ts';

/** A chat for programs; `folder` is null for one that is not registered. */
type ChatEntry = {
  readonly jid: string;
  readonly name: string | null;
  /** Null where nothing is known of it. */
  readonly channel: string | null;
  readonly folder: string | null;
  readonly isMain: boolean;
  /** True if it is answered only when it calls the assistant, by `trigger` or (null) by its name. */
  readonly needsTrigger: boolean;
  readonly trigger: string | null;
};

const COMMANDS = ['register', 'unregister', 'trigger', 'allow'];

/** Lists chats, or passes an owner's command on. */
export const verb = defineVerb({
  name: 'groups',
  help: 'list registered and known chats; register, unregister, trigger, allow',
  usage: {
    argument: '[name-or-action...]',
    help: 'a part of a name, or as in the chat: register "Family" as family',
  },
  create:
    ({ dataDir }) =>
    async (call) => {
      const { words } = call;
      const isCommand = COMMANDS.includes(words[0] ?? '');
      if (!isCommand && words.length > 0) refuseUnknown(dataDir, words.join(' '));
      const command = isCommand ? `/${typed(words)}` : `/groups ${typed(words)}`.trim();
      return await tellOrLook(call, {
        dataDir,
        command,
        isCommand,
        linesOf: groupLines,
        read: (database) =>
          withReadOnlyQueries(database, (queries) =>
            queries
              .chats()
              .filter(isCalled(words.join(' ')))
              .map(chatEntry),
          ),
      });
    },
});

/** In the chat a list without an entry says it; a program goes by the exit code. */
function refuseUnknown(dataDir: string, name: string): void {
  const chats = looked(() =>
    withReadOnlyQueries(join(dataDir, 'claw.db'), (queries) => queries.chats()),
  );
  if (chats.some(isCalled(name))) return;
  const [meant] = nearestNames(name.split(' ')[0] ?? '', COMMANDS, 1);
  const hint = meant === undefined ? '' : ` Did you mean \`npx claw groups ${meant}\`?`;
  throw new VerbError('usage', `${unknownChat(chats, name)}${hint}`);
}

function isCalled(wanted: string): (chat: ChatOverview) => boolean {
  const word = wanted.toLowerCase();
  return ({ name, jid, group }) =>
    [name ?? jid, group?.folder ?? ''].some((text) => text.toLowerCase().includes(word));
}

function chatEntry({ jid, name, channel, group }: ChatOverview): ChatEntry {
  return {
    jid,
    name,
    channel,
    folder: group?.folder ?? null,
    isMain: group?.isMain ?? false,
    needsTrigger: group?.needsTrigger ?? false,
    trigger: group?.triggerWord ?? null,
  };
}

/** Chats from the database. */
export function groupLines(chats: readonly ChatEntry[]): readonly string[] {
  const names = chatNames(chats);
  const isOneOfSeveral = chats.filter(({ isMain }) => isMain).length > 1;
  const own = isOneOfSeveral ? 'one of your own chats' : 'your own chat';
  const registered = chats.filter(({ folder }) => folder !== null);
  const known = chats.filter(({ folder }) => folder === null);
  return [
    'Registered:',
    ...(registered.length === 0
      ? ['  none']
      : registered.map((chat) => groupLine(chat, names.get(chat.jid) ?? chat.jid, own))),
    ...(known.length === 0
      ? []
      : ['Known:', ...known.map(({ jid }) => `  ${names.get(jid) ?? jid} (${jid})`)]),
    STOPPED,
  ].map(printable);
}

function groupLine(
  { folder, isMain, needsTrigger, trigger }: ChatEntry,
  name: string,
  own: string,
): string {
  const how = needsTrigger ? `answers to ${trigger ?? 'its name'}` : 'answers always';
  return `  ${name} (groups/${folder}, ${isMain ? own : how})`;
}

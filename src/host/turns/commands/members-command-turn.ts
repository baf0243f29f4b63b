import { z } from 'zod';
import type { Group } from '../../../store/store.ts';
import type { AskQuestion, AskReply } from '../../contracts/ask.ts';
import type { Command, MembersCommand, MembersContext } from '../../contracts/command.ts';
import { matchCommand, worksIn } from '../../contracts/match-command.ts';
import { answered, failed, type TurnResult } from '../turn-result.ts';

const Sender = z.object({ id: z.string(), name: z.string().nullable(), isOwner: z.boolean() });

/** The sender of a command. */
export type Sender = Readonly<z.output<typeof Sender>>;

/** A members' command as its turn was queued. */
const CommandRequest = z.object({ kind: z.literal('run'), text: z.string(), by: Sender });

export type MembersCommandOptions = Omit<MembersContext, 'sender' | 'group' | 'ask'> & {
  /** Asks the person with this id in the chat. */
  readonly askSender: (sender: string, question: AskQuestion) => Promise<AskReply>;
  readonly commands: readonly Command[];
  readonly group: Group;
};

/** Reads who gave the command of a turn; null if it is the owner's own. */
export function givenByMember(payload: unknown): z.output<typeof CommandRequest> | null {
  return CommandRequest.safeParse(payload).data ?? null;
}

/** Returns the commands of members that work in a chat. */
export function membersCommands(
  commands: readonly Command[],
  chat: Pick<Group, 'isMain'>,
): readonly MembersCommand[] {
  return commands.filter(
    (command): command is MembersCommand => command.scope === 'members' && worksIn(command, chat),
  );
}

/** Runs a members' command in the chat where it was given. Never rejects because of the command. */
export async function runMembersCommand(
  options: MembersCommandOptions,
  { text, by }: z.output<typeof CommandRequest>,
): Promise<TurnResult> {
  const match = matchCommand(text, membersCommands(options.commands, options.group));
  // It was there when the message came, and a restart has taken its skill out.
  if (match.kind === 'unknown') return failed('NO_COMMAND', `\`${text}\` is not known any more.`);
  const { command, argument } = match;
  try {
    return answered(await command.run(contextOf(options, by), argument));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed('COMMAND_FAILED', `\`/${command.name}\` failed: ${reason}`);
  }
}

/** Field by field: what a member can call holds nothing of the code, the engine or other chats. */
function contextOf(options: MembersCommandOptions, by: Sender): MembersContext {
  const { assistantName, timeZone, now, newId, say, costs, beginConversation, stopAgent } = options;
  const { name, folder, isMain } = options.group;
  return {
    assistantName,
    group: { name, folder, isMain },
    sender: { id: by.id, name: by.name, isOwner: by.isOwner },
    timeZone,
    now,
    newId,
    say,
    ask: (question) => options.askSender(by.id, question),
    costs,
    beginConversation,
    stopAgent,
  };
}

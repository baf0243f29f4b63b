import { z } from 'zod';
import type { Turn } from '../../../store/store.ts';
import type {
  CommandContext,
  CommandResult,
  OwnerCommand,
  Resumption,
} from '../../contracts/command.ts';
import { matchCommand, ownerCommands } from '../../contracts/match-command.ts';
import { isAmong, parseQuestion, type Question, type Reply } from '../../contracts/question.ts';
import { titleOf } from '../../inbound-path/command-title.ts';
import { answered, askedAtEnd, failed, type TurnResult } from '../turn-result.ts';
import type { Sender } from './members-command-turn.ts';

/** The request of a command turn, as it was queued. */
export type CommandRequest =
  | {
      readonly kind: 'run';
      readonly text: string;
      /** Read by the store: it runs beside other commands. */
      readonly isQuick?: boolean;
      /** The sender of a members' command; left out for the owner's own. */
      readonly by?: Sender;
    }
  /** A reply to a sender whose answer took effect when it was stored. */
  | { readonly kind: 'said'; readonly text: string; readonly isQuick: true }
  | { readonly kind: 'reply'; readonly question: Question; readonly reply: Reply };

const GivenReply = z.union([
  // As an older tree queued it.
  z.enum(['yes', 'no']).transform((word) => ({ word, text: '', isForAll: false })),
  z.object({ word: z.string(), text: z.string(), isForAll: z.boolean() }),
]);

const Said = z.object({ kind: z.literal('said'), text: z.string() });

const StoredRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), text: z.string() }),
  Said,
  z.object({
    kind: z.literal('reply'),
    question: z.unknown(),
    reply: GivenReply,
    /** As an older tree queued it: something else was said after the question. */
    isOvertaken: z.boolean().default(false),
  }),
]);

/** Data by which another process can finish the command. */
const Kept = z.object({
  kind: z.literal('kept'),
  command: z.string(),
  data: z.unknown(),
  /** The command's name while it is at work. */
  title: z.string().optional(),
});

/** The part of the context that belongs to one turn. */
export type CommandTurnOptions = {
  readonly context: Omit<CommandContext, 'keep'>;
  readonly keep: (payload: unknown) => void;
};

/** Reads a text that is to be said without running anything; null for every other turn. */
export function saidIn(payload: unknown): string | null {
  return Said.safeParse(payload).data?.text ?? null;
}

/** Runs an owner's command, or continues one after the owner's yes. */
export async function runCommandTurn(
  { context, keep }: CommandTurnOptions,
  turn: Turn,
): Promise<TurnResult> {
  const call = callOf(turn.payload, ownerCommands(context.commands, context.group));
  if (call.kind === 'said') return answered(call.text);
  const keepFor = keeperOf(keep, call.command, turn);
  return endOf(call.command, await call.run({ ...context, keep: keepFor }), keepFor);
}

function keeperOf(
  keep: CommandTurnOptions['keep'],
  { name }: OwnerCommand,
  turn: Turn,
): (data: unknown) => void {
  const title = titleOf(turn.payload);
  return (data) => keep({ kind: 'kept', command: name, data, title });
}

function endOf(
  { name }: OwnerCommand,
  result: CommandResult,
  keepFor: (data: unknown) => void,
): TurnResult {
  if (result.kind === 'restart') {
    keepFor(result.data);
    return { kind: 'suspended' };
  }
  if (result.kind === 'answer') {
    return { ...answered(result.text), isAnsweredLater: result.isAnsweredLater === true };
  }
  const { kind: _, ...asked } = result;
  return askedAtEnd({ command: name, ...asked });
}

/** Finishes, in a new process, a command that an earlier one began. */
export async function resumeCommandTurn(
  { context, keep }: CommandTurnOptions,
  turn: Turn,
  resumption: Resumption,
): Promise<TurnResult> {
  const kept = Kept.safeParse(turn.payload).data;
  const command = ownerCommands(context.commands).find(({ name }) => name === kept?.command);
  if (kept === undefined || command?.resume === undefined) {
    const text = StoredRequest.safeParse(turn.payload).data;
    const said = text?.kind === 'run' ? `\`${text.text}\`` : 'What you asked for';
    return failed('INTERRUPTED', `${said} was interrupted by a restart. Say it again.`);
  }
  const keepFor = keeperOf(keep, command, turn);
  const result = await command.resume({ ...context, keep: keepFor }, kept.data, resumption);
  if (typeof result === 'string') return answered(result);
  return endOf(command, result, keepFor);
}

type Call =
  | { readonly kind: 'said'; readonly text: string }
  | {
      readonly kind: 'called';
      readonly command: OwnerCommand;
      readonly run: (context: CommandContext) => Promise<CommandResult>;
    };

function callOf(payload: unknown, commands: readonly OwnerCommand[]): Call {
  const request = StoredRequest.parse(payload);
  if (request.kind === 'run') return callOfText(request.text, commands);
  if (request.kind === 'said') return request;
  return callOfReply(parseQuestion(request.question), request, commands);
}

function callOfText(text: string, commands: readonly OwnerCommand[]): Call {
  const match = matchCommand(text, commands);
  if (match.kind === 'unknown') {
    const names = match.nearest.map((name) => `\`/${name}\``).join(', ');
    const typed = text.split(/\s/, 1)[0];
    const isOfSkills = match.nearest.some((name) => name.endsWith('<skill>'));
    const list = isOfSkills ? '`/skills` lists the skills.' : '`/help` lists the commands.';
    const hint = names === '' ? list : `Nearest: ${names}. ${list}`;
    return { kind: 'said', text: `There is no command \`${typed}\`. ${hint}` };
  }
  const { command, argument } = match;
  if (command.takesNothing === true && argument !== '') {
    const text = `\`/${command.name}\` takes nothing after it: say \`/${command.name}\` alone. Nothing was done.`;
    return { kind: 'said', text };
  }
  return { kind: 'called', command, run: (context) => command.run(context, argument) };
}

function callOfReply(
  question: Question | null,
  { reply, isOvertaken }: { readonly reply: Reply; readonly isOvertaken: boolean },
  commands: readonly OwnerCommand[],
): Call {
  // An older tree queued what is no clear answer as well: nothing may run on it.
  if (question !== null && (isOvertaken || !isAmong(question, reply))) {
    return { kind: 'said', text: `That was not clear, so nothing was done. ${question.declined}` };
  }
  if (question !== null && question.run !== null) {
    return reply.word === 'yes'
      ? callOfText(question.run, commands)
      : { kind: 'said', text: question.declined };
  }
  const chosen = question?.choices.find(({ word }) => word === reply.word)?.run;
  if (question !== null && chosen === null) return { kind: 'said', text: question.declined };
  if (typeof chosen === 'string') return callOfText(chosen, commands);
  // Where a no is one of the choices, what it leads to is the command's to say.
  if (question !== null && reply.word === 'no' && question.choices.length === 0) {
    return { kind: 'said', text: question.declined };
  }
  const command = commands.find(({ name }) => name === question?.command);
  if (question === null || command?.confirm === undefined) {
    return { kind: 'said', text: 'The question that you have answered does not exist any more.' };
  }
  const confirm = command.confirm.bind(command);
  return { kind: 'called', command, run: (context) => confirm(context, question.data, reply) };
}

import { join } from 'node:path';
import { StoreError } from '../../store/error.ts';
import { type VerbCall, type VerbEnd, VerbError } from '../../verb.ts';

export const STOPPED = 'The assistant does not run; this is what it knew last.';

/** A request of the owner: a command for the running assistant, or a look at its database. */
type AssistantQuery<Entry> = {
  readonly dataDir: string;
  /** As it is said in the chat. */
  readonly command: string;
  /** True if it changes something, which only the assistant does. */
  readonly isCommand: boolean;
  readonly read: (database: string) => readonly Entry[];
  readonly linesOf: (entries: readonly Entry[]) => readonly string[];
};

/** Lets the running assistant answer; for programs, and where none runs, its database does. */
export async function tellOrLook<Entry>(
  call: VerbCall,
  { dataDir, command, isCommand, read, linesOf }: AssistantQuery<Entry>,
): Promise<VerbEnd> {
  const isRunning = await call.isAssistantRunning();
  if (isRunning && (isCommand || !call.isJson))
    return { data: { answers: await call.say(command) } };
  if (isCommand) {
    throw new VerbError(
      'stopped',
      `Only the assistant does that, and it does not run. Start it with npx claw start, or say npx claw chat "${command.replaceAll('"', '')}", which starts it for that.`,
    );
  }
  const data = looked(() => read(join(dataDir, 'claw.db')));
  return { data, lines: linesOf(data) };
}

/**
 * Looks into the database.
 *
 * @throws VerbError where its StoreError says why that cannot be
 */
export function looked<Found>(look: () => Found): Found {
  try {
    return look();
  } catch (error) {
    throw error instanceof StoreError ? new VerbError('failed', error.message) : error;
  }
}

/** Joins words as the owner would type them, with quotes around one that has spaces. */
export function typed(words: readonly string[]): string {
  return words
    .map((word) => (/\s/.test(word) ? `"${word.replace(/["“”„]/g, "'")}"` : word))
    .join(' ');
}

import type { ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';
import { relayProgress } from './progress.ts';

/** Runs a `claw` command, and says in the chat how it goes on. */
export async function runClawWithProgress(
  { claw, sayProgress, progressMs }: Pick<CommandContext, 'claw' | 'sayProgress' | 'progressMs'>,
  args: readonly string[],
): Promise<ClawResult> {
  const progress = relayProgress(sayProgress, progressMs);
  const result = await claw(args, (line) => progress.line(line));
  progress.end();
  return result;
}

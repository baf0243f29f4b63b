import { z } from 'zod';
import type { Command } from '../contracts/command.ts';
import { matchCommand } from '../contracts/match-command.ts';

const Queued = z.union([
  z.object({ kind: z.literal('run'), text: z.string() }),
  z.object({
    kind: z.literal('reply'),
    question: z.object({ command: z.string(), run: z.string().nullish() }),
  }),
  z.object({ kind: z.literal('kept'), command: z.string(), title: z.string().optional() }),
]);

const LENGTH = 40;

/** Returns the name of a command turn for a chat: `/pair`, in its quotes. */
export function titleOf(payload: unknown): string {
  const queued = Queued.safeParse(payload).data;
  if (queued === undefined) return 'What you asked for';
  if (queued.kind === 'kept') return queued.title ?? quoted(`/${queued.command}`);
  if (queued.kind === 'run') return quoted(queued.text);
  return quoted(queued.question.run ?? `/${queued.question.command}`);
}

/** Returns the command that a text calls in the end; null for one that is not known, and for answers. */
export function commandOf<C extends Command>(payload: unknown, commands: readonly C[]): C | null {
  const queued = Queued.safeParse(payload).data;
  if (queued?.kind !== 'run') return null;
  const match = matchCommand(queued.text, commands);
  return match.kind === 'found' ? match.command : null;
}

function quoted(typed: string): string {
  const line = typed
    .replace(/[\s`]+/g, ' ')
    .replace(/-?<[^>]*>$/, '')
    .trim();
  const short = line.length <= LENGTH ? line : (line.split(' ', 1)[0] ?? '');
  return `\`${short}\``;
}

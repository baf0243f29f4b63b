import type { ClawProgress, ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';

/** Runs a `claw` command, reports its progress in the chat, and shows it to watching services. */
export async function runClawWithProgress(
  {
    claw,
    sayProgress,
    showProgress,
    progressMs,
  }: Pick<CommandContext, 'claw' | 'sayProgress' | 'showProgress' | 'progressMs'>,
  args: readonly string[],
): Promise<ClawResult> {
  const relay = relayProgress(sayProgress, progressMs);
  const result = await claw(args, (progress) => {
    showProgress(progress);
    const line = progressLine(progress);
    if (line !== null) relay.line(line);
  });
  relay.end();
  return result;
}

/** Returns the line for the chat: beginnings, and ends that failed. */
export function progressLine(progress: ClawProgress): string | null {
  if (progress.kind === 'done' || progress.kind === 'output') return null;
  if (progress.kind !== 'ended') return progress.text;
  if (progress.outcome === 'passed') return null;
  return `${progress.outcome === 'failed' ? '✗' : '–'} ${progress.text}`;
}

interface ProgressRelay {
  line(text: string): void;
  /** Says what is left; nothing is said afterwards. */
  end(): void;
}

/** Passes progress lines on at most every `everyMs`, those in between together in one message. */
function relayProgress(say: (text: string) => void, everyMs: number): ProgressRelay {
  let waiting: string[] = [];
  let last = '';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    if (waiting.length === 0) return;
    say(waiting.join('\n'));
    waiting = [];
    timer = setTimeout(flush, everyMs);
  }

  return {
    line(text) {
      if (text === last) return;
      last = text;
      waiting.push(`… ${text}`);
      if (timer === undefined) flush();
    },
    end() {
      clearTimeout(timer);
      flush();
      clearTimeout(timer);
    },
  };
}

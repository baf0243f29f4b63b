import type { ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';

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

import { type Command, findRoot, InvalidArgumentError, Option } from '@patchclaw/claw/cli';
import { dataDirOf, environmentOf } from '../environment.ts';
import { LEVELS, parseSince } from './arguments.ts';

type LogsOptions = {
  readonly follow?: boolean;
  readonly since?: number;
  readonly level: keyof typeof LEVELS;
  readonly lines?: number;
};

const USUAL_LINES = 100;

/** `claw logs`: no result at the end, lines as they are found. */
export function defineLogs(program: Command): void {
  program
    .command('logs')
    .description(
      "show the assistant's log, all of it or that of a group's folder; --json prints it raw",
    )
    .argument('[group]', 'the folder of a group, as /groups names it')
    .option('-f, --follow', 'keep printing new lines; Ctrl-C ends it')
    .option('-n, --lines <count>', `how many lines; ${USUAL_LINES} without --since`, countArgument)
    .option('--since <time>', 'such as 90s, 30m, 2h, 3d, 09:30, 2026-11-21', sinceArgument)
    .addOption(
      new Option('--level <level>', 'the lowest level')
        .choices(Object.keys(LEVELS))
        .default('debug'),
    )
    .action(async (group: string | undefined, options: LogsOptions) => {
      const { json, cwd } = program.opts<{ readonly json?: boolean; readonly cwd?: string }>();
      const root = findRoot(cwd ?? process.cwd());
      const { showLogs } = await import('./show.ts');
      const unknown = await showLogs({
        dataDir: dataDirOf(environmentOf(root), root),
        wanted: {
          group: group ?? null,
          level: LEVELS[options.level],
          since: options.since ?? null,
        },
        count: options.lines ?? (options.since === undefined ? USUAL_LINES : Infinity),
        isFollowing: options.follow === true,
        isRaw: json === true,
        signal: untilLeft(),
      });
      if (unknown !== null) program.error(`USAGE: ${unknown}`, { exitCode: 2 });
    });
}

/** Ctrl-C, a stop, or a reader who has seen enough (`| head`): all of them a good end. */
function untilLeft(): AbortSignal {
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => left.abort());
  }
  process.stdout.on('error', () => left.abort());
  return left.signal;
}

function sinceArgument(text: string): number {
  const time = parseSince(text, Date.now());
  if (time !== null) return time;
  throw new InvalidArgumentError('Say 90s, 30m, 2h, 3d, 09:30 or 2026-11-21.');
}

function countArgument(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Say a number.');
}

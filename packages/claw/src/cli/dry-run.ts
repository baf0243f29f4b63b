import { ClawError } from '../verbs.ts';

/** How a verb takes `--dry-run`. */
type DryRun =
  /** As `claw plan <verb>`. */
  | 'plan'
  /** With another option of its own that changes nothing. */
  | { readonly option: string }
  /** It changes nothing anyway. */
  | 'looks'
  /** Refused, with what to do instead. */
  | { readonly instead: string };

const UNKNOWN: DryRun = { instead: 'Run it without --dry-run, or not at all.' };

/** Every verb of the engine has a row; those of skills and of the assistant are refused. */
export const DRY_RUNS: Readonly<Record<string, DryRun>> = {
  ...{
    init: 'plan',
    adopt: 'plan',
    apply: 'plan',
    remove: 'plan',
    upgrade: 'plan',
    replay: 'plan',
  },
  ...{ update: 'plan', customize: 'plan', rebase: 'plan', pack: 'plan', undo: 'plan' },
  continue: { option: '--prove' },
  ...{ plan: 'looks', status: 'looks', list: 'looks', show: 'looks', log: 'looks', why: 'looks' },
  ...{ diff: 'looks', verify: 'looks', matrix: 'looks', doctor: 'looks', conflicts: 'looks' },
  completion: 'looks',
  resolve: { instead: 'It only records a decision: claw continue --dry-run proves them all.' },
  abort: { instead: 'claw conflicts shows the command that it would forget.' },
  resolutions: { instead: 'claw resolutions lists them and forgets none.' },
  recover: { instead: 'claw status reports an interrupted command and how to finish it.' },
  dev: { instead: 'claw plan pack <skill> --update shows what it would write.' },
};

/**
 * Rewrites a command line with `--dry-run` into one that changes nothing: `apply x` becomes `plan apply x`.
 *
 * @param called the verb, null where there is none
 * @throws ClawError USAGE for a verb that has no dry run; nothing was done
 */
export function withoutChanges(args: readonly string[], called: string | null): readonly string[] {
  const rest = args.filter((arg) => arg !== '--dry-run');
  if (called === null) return rest;
  const way = Object.hasOwn(DRY_RUNS, called) ? (DRY_RUNS[called] ?? UNKNOWN) : UNKNOWN;
  if (way === 'looks') return rest;
  const at = rest.indexOf(called);
  if (way === 'plan') return [...rest.slice(0, at), 'plan', ...rest.slice(at)];
  if ('option' in way) return [...rest.slice(0, at + 1), way.option, ...rest.slice(at + 1)];
  throw new ClawError('USAGE', `claw ${called} has no --dry-run. ${way.instead}`);
}

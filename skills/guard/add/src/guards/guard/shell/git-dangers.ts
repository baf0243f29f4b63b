import type { Value } from './word-values.ts';

/** Options of git itself that take a word. */
const TAKES_WORD = /^(?:-[Cc]|--git-dir|--work-tree|--namespace)$/;

const UNCOMMITTED = 'It throws changes away that are not committed.';
const OTHERS = 'It overwrites or deletes what others have.';
const HISTORY = 'It deletes commits, or the only name by which they are found.';

/** Returns the pattern and the effect of a call of git that loses work; null for one that does not. */
export function dangerOfGit(
  args: readonly Value[],
): readonly [pattern: string, why: string] | null {
  const at = args.findIndex((arg, index) => {
    return arg !== null && !arg.startsWith('-') && !TAKES_WORD.test(args[index - 1] ?? '');
  });
  if (at === -1) return null;
  const verb = args[at] ?? '';
  const rest = args.slice(at + 1);
  const end = rest.indexOf('--');
  const options = (end === -1 ? rest : rest.slice(0, end)).filter((arg) => arg?.startsWith('-'));
  const words = rest.filter(
    (arg, index) => arg === null || (end !== -1 && index > end) || !arg.startsWith('-'),
  );
  const has = (option: RegExp) => options.some((arg) => option.test(arg ?? ''));
  const isForced = has(/^(?:-\w*f\w*|--force)$/);
  const of = (pattern: string, why: string, isLoss: boolean) =>
    isLoss ? ([`git ${pattern}`, why] as const) : null;
  switch (verb) {
    case 'clean':
      return of(
        'clean',
        'It deletes files that git does not know.',
        isForced || (has(/^-[a-z]*[dxX]/) && !has(/^(?:-\w*n|--dry-run)/)),
      );
    case 'reset':
      return of('reset --hard', UNCOMMITTED, has(/^--(?:hard|merge)$/));
    case 'checkout': {
      const makes = has(/^(?:-[bt]|--orphan|--track.*)$/);
      const hasPaths = (end !== -1 && end < rest.length - 1) || words.length > 1;
      const isPath = words.some((word) => word === '.' || word === null || /^\.{1,2}\//.test(word));
      return of(
        'checkout',
        UNCOMMITTED,
        isForced || has(/^-B$/) || (!makes && (hasPaths || isPath)),
      );
    }
    case 'switch':
      return of(
        'switch',
        UNCOMMITTED,
        isForced || has(/^(?:-C|--discard-changes|--force-create)$/),
      );
    case 'restore': {
      const isIndexAlone = has(/^(?:-S|--staged)$/) && !has(/^(?:-W|--worktree)$/);
      return of('restore', UNCOMMITTED, !isIndexAlone);
    }
    case 'stash':
      return of(`stash ${words[0] ?? ''}`, UNCOMMITTED, /^(?:drop|clear)$/.test(words[0] ?? ''));
    case 'rm':
    case 'mv':
      return of(`${verb} -f`, UNCOMMITTED, isForced && !has(/^--cached$/));
    case 'merge':
    case 'rebase':
    case 'cherry-pick':
    case 'am':
    case 'revert':
      return of(`${verb} --abort`, UNCOMMITTED, has(/^--(?:abort|skip|quit)$/));
    case 'read-tree':
    case 'checkout-index':
      return of(verb, UNCOMMITTED, isForced || has(/^(?:--reset|-\w*u)/));
    case 'branch':
      return of('branch -D', HISTORY, isForced || has(/^-\w*[DMC]/));
    case 'tag':
      return of('tag -d', HISTORY, isForced || has(/^(?:-d|--delete)$/));
    case 'update-ref':
    case 'symbolic-ref':
    case 'replace':
    case 'notes':
      return of(verb, HISTORY, has(/^(?:-d|--delete)$/) || words[0] === 'remove');
    case 'reflog':
      return of('reflog', HISTORY, /^(?:expire|delete)$/.test(words[0] ?? ''));
    case 'gc':
    case 'prune':
      return of(verb, HISTORY, verb === 'prune' || has(/^--prune/));
    case 'filter-branch':
    case 'filter-repo':
      return of(verb, HISTORY, true);
    case 'worktree':
    case 'submodule':
      return of(`${verb} --force`, UNCOMMITTED, isForced);
    case 'push': {
      const refs = words.some((word) => /^[+:]/.test(word ?? ''));
      return of(
        'push --force',
        OTHERS,
        refs || has(/^(?:-\w*[fd]\w*|--force.*|--mirror|--delete|--prune)$/),
      );
    }
    default:
      return null;
  }
}

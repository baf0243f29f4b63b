import { Option } from 'commander';
import type { UpdateOptions } from '../../commands.ts';

/** Options that name a release. */
export type ReleaseOptions = { readonly coreVersion?: string; readonly release?: string };

/** Returns them as the engine takes them. */
export function releaseOf({ release, coreVersion }: ReleaseOptions) {
  return { release: release ?? null, coreVersion: coreVersion ?? null };
}

/** Options of `claw update`, beside a release. */
export type UpdateArguments = ReleaseOptions & {
  readonly retireContained?: boolean;
  readonly keep?: readonly string[];
  readonly moved?: readonly string[];
};

/** Makes `--retire-contained`. */
export function retireOption(): Option {
  const text = 'of an update: take out every skill that the release contains, without asking';
  return new Option('--retire-contained', text);
}

/** Makes `--keep`. */
export function keepOption(): Option {
  const text =
    'of an update: a skill that stays, although the release contains it; may be repeated';
  return repeatable(new Option('--keep <skill>', text));
}

/** Makes `--moved`. */
export function movedOption(): Option {
  const text =
    'of an update: a file or folder that the release moved without saying so, or old= for one that did not move; may be repeated';
  return repeatable(new Option('--moved <old=new>', text));
}

function repeatable(option: Option): Option {
  return option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

/** Makes `--by`. */
export function byOption(): Option {
  const text = 'of adopt: make a customisation for each commit, branch or folder, not one for all';
  return new Option('--by <topics>', text).choices(['commit', 'branch', 'folder']);
}

/** Returns options of an update as the engine takes them. */
export function updateOf({
  release,
  retireContained,
  keep,
  moved,
}: UpdateArguments): UpdateOptions {
  return {
    release: release ?? null,
    retireContained: retireContained === true,
    retire: [],
    keep: keep ?? [],
    moved: moved ?? [],
  };
}

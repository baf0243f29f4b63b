import clean from 'semver/functions/clean.js';
import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import { readState } from '../installed/state-file.ts';
import { isGitFolder, runGit } from '../repository/git.ts';

/** The newest release that is newer than the present core, or a sentence on why there is none. */
export type NewestTag =
  | { readonly kind: 'found'; readonly tag: string }
  | { readonly kind: 'none'; readonly text: string };

const NAME_ONE = 'Name a release: claw update <tag, commit or folder>.';
const FETCH = 'Run git fetch --tags to get newer ones.';

/**
 * Finds the newest release among the tags that git has here. It asks no server: the address of one stands in the
 * project's own git settings, which can start programs. Versions before their release (`2.0.0-rc.1`) are left out.
 */
export async function findNewestTag(root: string): Promise<NewestTag> {
  if (!isGitFolder(root)) return none(`This project is not in git, so it has no tags. ${NAME_ONE}`);
  const listing = (await runGit(root, ['tag', '--list'])).toString('utf8');
  const [newest] = listing
    .split('\n')
    .flatMap((tag) => {
      const version = clean(tag);
      return version === null || prerelease(version) !== null ? [] : [{ tag, version }];
    })
    .sort((one, other) => rcompare(one.version, other.version));
  if (newest === undefined) return none(`No release is tagged here. ${FETCH}`);
  const present = clean(readState(root)?.core.version ?? '');
  if (present === null || gt(newest.version, present)) return { kind: 'found', tag: newest.tag };
  return none(`You have the newest release that git knows here: ${present}. ${FETCH}`);
}

function none(text: string): NewestTag {
  return { kind: 'none', text };
}

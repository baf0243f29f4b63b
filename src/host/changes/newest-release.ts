import clean from 'semver/functions/clean.js';
import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import type { Git } from '../contracts/git.ts';

/** A release to update to, or a sentence on why there is none. */
export type NewestRelease =
  | { readonly kind: 'found'; readonly ref: string }
  | { readonly kind: 'none'; readonly text: string };

/** Remotes to ask for releases where there are several: `origin` may be the owner's own fork. */
const PREFERRED = ['upstream', 'origin'];

/**
 * Asks the project's git remote for its newest tagged version, and fetches that one tag where it is
 * newer than the present core. Versions before their release (`2.0.0-rc.1`) are left out.
 *
 * @param present the version of the core here; null counts as older than all
 */
export async function findNewestRelease(git: Git, present: string | null): Promise<NewestRelease> {
  const remotes = (await git(['remote'])).stdout.split('\n').filter((name) => name !== '');
  const remote = PREFERRED.find((name) => remotes.includes(name)) ?? remotes[0];
  if (remote === undefined) return none(NO_REMOTE);
  const listed = await git(['ls-remote', '--tags', '--refs', remote]);
  if (!listed.ok) return none(`The releases at ${remote} cannot be read: ${listed.reason}.`);
  const [newest] = versionsIn(listed.stdout);
  if (newest === undefined) return none(`There is no release at ${remote} yet. ${NAME_ONE}`);
  const current = present === null ? null : clean(present);
  if (current !== null && !gt(newest.version, current)) {
    return none(`The core is the newest: ${current}. ${NAME_ONE}`);
  }
  const ref = `refs/tags/${newest.tag}`;
  const fetched = await git(['fetch', '--no-tags', remote, `${ref}:${ref}`]);
  if (!fetched.ok)
    return none(`${newest.tag} cannot be fetched from ${remote}: ${fetched.reason}.`);
  return { kind: 'found', ref: newest.tag };
}

const NAME_ONE = 'Say `/update` and a tag, a commit or a folder for another one.';
const NO_REMOTE = `This project has no git remote to ask for a newer release. ${NAME_ONE}`;

function versionsIn(
  listing: string,
): readonly { readonly tag: string; readonly version: string }[] {
  return listing
    .split('\n')
    .flatMap((line) => {
      const tag = /\trefs\/tags\/(\S+)$/.exec(line)?.[1];
      const version = tag === undefined ? null : clean(tag);
      const isRelease = version !== null && prerelease(version) === null;
      return tag !== undefined && isRelease ? [{ tag, version }] : [];
    })
    .sort((one, other) => rcompare(one.version, other.version));
}

function none(text: string): NewestRelease {
  return { kind: 'none', text };
}

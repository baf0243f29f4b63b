import { namesOfReleases, StatusData, UpdateData } from '@patchclaw/claw/contract';
import clean from 'semver/functions/clean.js';
import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import { type ClawResult, dataBy, type ReadClaw } from '../contracts/claw.ts';
import type { CommandQuestion } from '../contracts/command.ts';
import type { Git, NewestRelease } from '../contracts/git.ts';

/** Remotes to ask for releases where there are several: `origin` may be the owner's own fork. */
const PREFERRED = ['upstream', 'origin'];

/**
 * Asks the project's git remote for its newest tagged version, and fetches that one tag if it is newer than the
 * present core. Pre-releases (`2.0.0-rc.1`) are left out.
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

/** The same for whoever has no command at work. */
export async function newestRelease({
  git,
  clawReader,
}: {
  readonly git: Git;
  readonly clawReader: { readonly read: ReadClaw };
}): Promise<NewestRelease> {
  const tree = dataBy(StatusData, await clawReader.read(['status']));
  return await findNewestRelease(git, tree?.core?.version ?? tree?.release?.version ?? null);
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

/** Returns the heading of an update, above its changes to the files here. */
export function updateTitle(result: ClawResult): string {
  const update = dataBy(UpdateData, result);
  if (update === null) return 'This update:';
  const { from, to, files, affected, retired, broughtSkills } = update;
  const { added, changed } = besideCore(broughtSkills, result.changes);
  const count = files === 1 ? '1 file' : `${files} files`;
  return [
    `Core ${namesOfReleases({ from, to }).join(' → ')}: ${count} of it changed.`,
    ...Object.entries(affected).map(([skill, paths]) => `- ${skill} works on ${someOf(paths)}`),
    ...(added.length > 0 ? [`- new skills to add: ${someOf(added)}`] : []),
    ...(changed.length > 0 ? [`- changed skill packages: ${someOf(changed)}`] : []),
    ...(retired.length > 0 ? [`- retires: ${someOf(retired)}`] : []),
  ].join('\n');
}

/** Returns the packages that the release adds, and the known ones that it changes. */
function besideCore(names: readonly string[], changes: ClawResult['changes']) {
  const kindsIn = (name: string) =>
    changes.filter(({ path }) => path.startsWith(`skills/${name}/`)).map(({ kind }) => kind);
  const isNew = (name: string) => kindsIn(name).every((kind) => kind === 'add');
  const isGone = (name: string) => kindsIn(name).every((kind) => kind === 'delete');
  const here = names.filter((name) => kindsIn(name).length > 0 && !isGone(name));
  return {
    added: here.filter(isNew),
    changed: here.filter((name) => !isNew(name)),
  };
}

const NAMED = 4;

function someOf(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

/**
 * Asks the owner what to do with layers that a release contains, if they have to decide. Each answer is the command
 * again, with the option for it.
 *
 * @param typed the command as the owner says it
 * @returns null where nothing is open
 */
export function retirementQuestion(plan: ClawResult, typed: string): CommandQuestion | null {
  const contained = dataBy(UpdateData, plan)?.contained ?? [];
  const open = contained.filter(({ fate }) => fate === 'open');
  if (open.length === 0) return null;
  const names = open.map(({ name }) => name);
  const lines = open.map(({ name, commits }) => {
    if (commits === 0) return `- ${name}: it would change nothing any more`;
    return `- ${name}: ${commits === 1 ? 'the commit' : `all ${commits} commits`} that it was made of`;
  });
  const choices = [
    {
      word: 'retire',
      label: `take ${names.join(', ')} out with the update; the tests and SKILL.md leave too`,
      run: `${typed} retire-contained`,
    },
    {
      word: 'keep',
      label: `keep ${names.join(', ')}`,
      run: [typed, ...names.map((name) => `keep ${name}`)].join(' '),
    },
    { word: 'give up', label: 'give up: the core stays as it is', run: null },
  ];
  return {
    kind: 'ask',
    text: `This release contains:\n${lines.join('\n')}`,
    data: null,
    declined: `The core stays as it is. Say \`${typed}\` when you want it.`,
    choices,
  };
}

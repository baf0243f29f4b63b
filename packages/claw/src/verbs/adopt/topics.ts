import { ClawError } from '../../errors.ts';
import type { Edit } from '../../operation/edits.ts';
import type { OwnCommit } from '../../repository/git-log.ts';

/** The ways to split the owner's edits into customisations. */
export const TOPIC_WAYS = ['one', 'commit', 'branch', 'folder'] as const;
export type TopicWay = (typeof TOPIC_WAYS)[number];

/**
 * Reads the name of such a way.
 *
 * @throws ClawError USAGE for a way that there is not
 */
export function topicWay(text: string): TopicWay {
  const found = TOPIC_WAYS.find((way) => way === text);
  if (found !== undefined) return found;
  throw new ClawError('USAGE', `--by takes commit, branch or folder, not ${text}.`);
}

/** A version of a file: the release's, the disk's, or one that git has. */
export type Version =
  | { readonly at: 'release' }
  | { readonly at: 'disk' }
  /** `mode id`, or null where git has no file there. */
  | { readonly at: 'git'; readonly entry: string | null };

/** A change of one file that a topic makes. */
export type TopicFile = {
  readonly path: string;
  readonly before: Version;
  readonly after: Version;
};

/** The content of one customisation. */
export type Topic = {
  /** Its name is made of this. */
  readonly title: string;
  readonly description: string;
  readonly files: readonly TopicFile[];
};

type Input = {
  readonly edits: readonly Edit[];
  /** The owner's commits, the oldest first. */
  readonly commits: readonly OwnCommit[];
  /** The branch that brought a commit; the others are the main line's. */
  readonly branchOf: ReadonlyMap<string, string>;
  /** The file of the release at a path, as git has it. */
  readonly released: (path: string) => string | null;
  readonly committed: (path: string) => string | null;
  /** Tells whether the file on disk is the one of HEAD. */
  readonly isCommitted: (path: string) => boolean;
  /** The release as the owner knows it: a version, or a commit. */
  readonly since: string;
};

/** Topics that are made at most: each is a layer that every command merges. */
const MOST_TOPICS = 40;
const RELEASE: Version = { at: 'release' };
const DISK: Version = { at: 'disk' };

/**
 * Splits the owner's edits into topics. Together they turn the release's files into those on disk. If upstream was
 * merged in between, the commits of a file do not lead from one to the other without a gap: such a file goes as a
 * whole to the last topic that worked on it.
 */
export function partIntoTopics(way: TopicWay, input: Input): readonly Topic[] {
  const topics =
    way === 'one' ? [] : way === 'folder' ? byFolder(input) : inOrder(groupsOf(way, input), input);
  return topics.length > 1 ? topics : whole(input);
}

function whole({ edits, commits, since }: Input): readonly Topic[] {
  if (edits.length === 0) return [];
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  const title = `my edits since ${since}`;
  const about = commits.length === 0 ? title : `${count} since ${since}`;
  const files = edits.map(({ path }) => ({ path, before: RELEASE, after: DISK }));
  return [{ title, description: described(about, subjectsOf(commits)), files }];
}

function byFolder({ edits, commits }: Input): readonly Topic[] {
  const folders = Map.groupBy(edits, ({ path }) => folderOf(path));
  return [...folders].slice(0, MOST_TOPICS).map(([folder, inside], at) => {
    const isLast = at === MOST_TOPICS - 1;
    const rest = isLast ? [...folders.values()].slice(MOST_TOPICS).flat() : [];
    const paths = [...inside, ...rest].map(({ path }) => path);
    const there = new Set(paths);
    const about = commits.filter(({ files }) => files.some(({ path }) => there.has(path)));
    const title = folder === '' ? 'files at the top' : folder;
    return {
      title,
      description: described(title, subjectsOf(about)),
      files: paths.map((path) => ({ path, before: RELEASE, after: DISK })),
    };
  });
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** Commits that make one topic. The main line's commits come under their own title. */
type Group = { readonly title: string; readonly commits: readonly OwnCommit[] };

function groupsOf(way: 'commit' | 'branch', { commits, branchOf }: Input): readonly Group[] {
  const groups =
    way === 'commit'
      ? commits.map((commit) => ({ title: commit.subject, commits: [commit] }))
      : [...Map.groupBy(commits, ({ commit }) => branchOf.get(commit) ?? MAIN_LINE)].map(
          ([title, inside]) => ({ title, commits: inside }),
        );
  const extra = groups.length - MOST_TOPICS + 1;
  if (extra <= 1) return groups;
  const earlier = groups.slice(0, extra).flatMap((group) => group.commits);
  return [{ title: `${earlier.length} earlier commits`, commits: earlier }, ...groups.slice(extra)];
}

const MAIN_LINE = 'commits without a branch';
const NOT_COMMITTED = 'not committed yet';

/** A step of one file's history, and the topic that it belongs to. */
type Step = {
  readonly topic: number;
  readonly before: string | null;
  readonly after: string | null;
};

function inOrder(groups: readonly Group[], input: Input): readonly Topic[] {
  const files: TopicFile[][] = [...groups.map(() => []), []];
  const last = groups.length;
  const stepsOf = collectSteps(groups);
  for (const { path } of input.edits) {
    const steps = joined(stepsOf.get(path) ?? []);
    const end = steps.at(-1);
    if (end === undefined) {
      files[last]?.push({ path, before: RELEASE, after: DISK });
      continue;
    }
    const isWhole = steps.length === 1 || !leadsOn(steps, path, input);
    const parts: readonly TopicFile[] = isWhole
      ? [{ path, before: RELEASE, after: DISK }]
      : steps.map(({ before, after }, at) => ({
          path,
          before: at === 0 ? RELEASE : gitVersion(before),
          after: at === steps.length - 1 ? DISK : gitVersion(after),
        }));
    const topics = isWhole ? [end.topic] : steps.map(({ topic }) => topic);
    for (const [at, part] of parts.entries()) files[topics[at] ?? last]?.push(part);
  }
  return [...groups, { title: NOT_COMMITTED, commits: [] }].flatMap(({ title, commits }, at) => {
    const inside = files[at] ?? [];
    const isOne = commits.length === 1 && commits[0]?.subject === title;
    const description = isOne ? title : described(title, subjectsOf(commits));
    return inside.length === 0 ? [] : [{ title, description, files: inside }];
  });
}

function gitVersion(entry: string | null): Version {
  return { at: 'git', entry };
}

function collectSteps(groups: readonly Group[]): ReadonlyMap<string, readonly Step[]> {
  const order = new Map(groups.flatMap(({ commits }, topic) => commits.map((one) => [one, topic])));
  const steps = new Map<string, Step[]>();
  const add = (topic: number, { files }: OwnCommit) => {
    for (const { path, before, after } of files) {
      const known = steps.get(path) ?? [];
      known.push({ topic, before, after });
      steps.set(path, known);
    }
  };
  for (const [commit, topic] of order) add(topic, commit);
  return steps;
}

/** Joins steps of the same topic that follow each other. */
function joined(steps: readonly Step[]): readonly Step[] {
  const found: Step[] = [];
  for (const step of steps) {
    const before = found.at(-1);
    if (before?.topic === step.topic && before.after === step.before) {
      found[found.length - 1] = { ...before, after: step.after };
    } else found.push(step);
  }
  return found;
}

/** Tells whether steps lead from the release to the disk, through topics in their order. */
function leadsOn(
  steps: readonly Step[],
  path: string,
  { released, committed, isCommitted }: Input,
): boolean {
  const [first] = steps;
  const isChain = steps.every((step, at) => {
    const before = steps[at - 1];
    return before === undefined || (before.after === step.before && before.topic < step.topic);
  });
  const isEnd = steps.at(-1)?.after === committed(path);
  return isChain && isEnd && first?.before === released(path) && isCommitted(path);
}

/** Bytes of a description: the manifest has a limit, and people read it. */
const LONGEST_DESCRIPTION = 600;

function described(title: string, subjects: readonly string[]): string {
  if (subjects.length === 0) return title;
  let text = `${title}: `;
  for (const [at, subject] of subjects.entries()) {
    const next = `${text}${at === 0 ? '' : '; '}${subject}`;
    if (next.length > LONGEST_DESCRIPTION) return `${text}; and ${subjects.length - at} more`;
    text = next;
  }
  return text;
}

/** Returns the subjects of commits, the newest first, each once. */
function subjectsOf(commits: readonly OwnCommit[]): readonly string[] {
  return [...new Set(commits.map(({ subject }) => subject))].reverse();
}

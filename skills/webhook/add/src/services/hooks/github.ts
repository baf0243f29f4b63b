import { z } from 'zod';
import { list, text } from '../../lib/bounded-schema.ts';
import { shortened } from '../../lib/graphemes.ts';

const Named = z.looseObject({ login: text() });
const Titled = z.looseObject({
  number: z.int().optional(),
  title: text().optional(),
  html_url: text().optional(),
  body: text().nullish(),
  merged: z.boolean().optional(),
});
const GithubEvent = z.looseObject({
  action: text().optional(),
  sender: Named.optional(),
  repository: z.looseObject({ full_name: text(), html_url: text().optional() }).optional(),
  issue: Titled.optional(),
  pull_request: Titled.optional(),
  discussion: Titled.optional(),
  comment: z.looseObject({ body: text().nullish(), html_url: text().optional() }).optional(),
  review: z.looseObject({ state: text().optional(), html_url: text().optional() }).optional(),
  release: z.looseObject({ tag_name: text(), html_url: text().optional() }).optional(),
  workflow_run: z
    .looseObject({
      name: text().nullish(),
      conclusion: text().nullish(),
      head_branch: text().nullish(),
      html_url: text().optional(),
    })
    .optional(),
  ref: text().nullish(),
  compare: text().optional(),
  commits: list(z.looseObject({ message: text() })).optional(),
});
type GithubEvent = z.output<typeof GithubEvent>;

const MOST_COMMITS = 5;

/** Tells an event of GitHub in a few lines: who did what, where, and its address. */
export function describeGitHub(event: string, value: unknown): string {
  const read = GithubEvent.safeParse(value).data ?? {};
  const who = read.sender?.login ?? 'GitHub';
  const where = read.repository === undefined ? '' : ` in ${read.repository.full_name}`;
  const { what, url = read.repository?.html_url, lines = [] } = tell(event, read);
  const head = `${who} ${what}${where}`;
  return [head, ...lines, ...(url === undefined ? [] : [url])].map(onOneLine).join('\n');
}

type Told = {
  readonly what: string;
  readonly url?: string | undefined;
  readonly lines?: readonly string[];
};

function tell(event: string, read: GithubEvent): Told {
  const { action = 'changed', comment, review, release, workflow_run: run } = read;
  const subject = read.pull_request ?? read.issue ?? read.discussion;
  if (event === 'push') return tellPush(read);
  if (release !== undefined) {
    return { what: `${action} the release ${release.tag_name}`, url: release.html_url };
  }
  if (run !== undefined) {
    const end = run.conclusion ?? action;
    const what = `ran ${run.name ?? 'a workflow'} on ${run.head_branch ?? '?'}: ${end}`;
    return { what, url: run.html_url };
  }
  if (subject === undefined) {
    const words = event.replace(/_/g, ' ');
    return { what: read.action === undefined ? `sent ${words}` : `${action} ${words}` };
  }
  const thing = `${nounOf(read)} #${subject.number ?? '?'} “${oneLine(subject.title ?? '')}”`;
  if (comment !== undefined) {
    return {
      what: `commented on ${thing}`,
      url: comment.html_url,
      lines: [oneLine(comment.body ?? '')],
    };
  }
  if (review !== undefined) {
    return { what: `reviewed ${thing}: ${review.state ?? action}`, url: review.html_url };
  }
  const did = action === 'closed' && subject.merged === true ? 'merged' : action.replace(/_/g, ' ');
  return { what: `${did} ${thing}`, url: subject.html_url };
}

function tellPush({ commits = [], ref, compare }: GithubEvent): Told {
  const branch = (ref ?? '').replace(/^refs\/(heads|tags)\//, '');
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  const titles = commits.map(({ message }) => `- ${oneLine(message)}`);
  const more = titles.length - MOST_COMMITS;
  return {
    what: `pushed ${count} to ${branch}`,
    url: compare,
    lines: [...titles.slice(0, MOST_COMMITS), ...(more > 0 ? [`- and ${more} more`] : [])],
  };
}

function nounOf({ pull_request: pull, issue }: GithubEvent): string {
  if (pull !== undefined) return 'pull request';
  return issue === undefined ? 'discussion' : 'issue';
}

function oneLine(text: string): string {
  const [first = ''] = text.trim().split('\n');
  return shortened(first, 200);
}

/** A line of ours stays one, whatever the fields hold that are part of it. */
function onOneLine(line: string): string {
  return line.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

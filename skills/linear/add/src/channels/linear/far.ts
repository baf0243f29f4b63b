import { z } from 'zod';
import type { AskLinear } from '../../lib/linear/api.ts';

/*
 * What the channel asks Linear for: the issues that are assigned to the user of the key, and the comments on them.
 */

const Person = z.looseObject({ id: z.string(), name: z.string(), email: z.string().nullish() });

const Issue = z.looseObject({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  url: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  priorityLabel: z.string().nullish(),
  state: z.looseObject({ name: z.string() }),
  team: z.looseObject({ name: z.string() }),
  creator: Person.nullish(),
  history: z.looseObject({
    nodes: z.array(
      z.looseObject({
        createdAt: z.string(),
        actor: Person.nullish(),
        toAssignee: z.looseObject({ id: z.string() }).nullish(),
      }),
    ),
  }),
});

const Comment = z.looseObject({
  id: z.string(),
  body: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  editedAt: z.string().nullish(),
  user: Person.nullish(),
  parent: z.looseObject({ id: z.string() }).nullish(),
  issue: z.looseObject({ id: z.string(), identifier: z.string() }),
});

export type FarPerson = z.output<typeof Person>;
export type FarIssue = z.output<typeof Issue>;
export type FarComment = z.output<typeof Comment>;

const PERSON = 'id name email';
const PAGE = 'pageInfo { hasNextPage endCursor }';

const ISSUES = `query Issues($since: DateTimeOrDuration!, $after: String) {
  issues(first: 50, after: $after, orderBy: updatedAt, filter: {
    assignee: { isMe: { eq: true } }, updatedAt: { gte: $since },
    state: { type: { nin: ["completed", "canceled"] } }
  }) { nodes {
    id identifier title description url createdAt updatedAt priorityLabel
    state { name } team { name } creator { ${PERSON} }
    history(first: 20) { nodes { createdAt actor { ${PERSON} } toAssignee { id } } }
  } ${PAGE} }
}`;

const COMMENTS = `query Comments($since: DateTimeOrDuration!, $after: String) {
  comments(first: 50, after: $after, orderBy: updatedAt, filter: {
    issue: { assignee: { isMe: { eq: true } } }, updatedAt: { gte: $since }
  }) { nodes {
    id body createdAt updatedAt editedAt user { ${PERSON} } parent { id } issue { id identifier }
  } ${PAGE} }
}`;

const PageInfo = z.looseObject({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });
const IssuePage = z.looseObject({
  issues: z.looseObject({ nodes: z.array(Issue), pageInfo: PageInfo }),
});
const CommentPage = z.looseObject({
  comments: z.looseObject({ nodes: z.array(Comment), pageInfo: PageInfo }),
});

/** Returns issues of the user's that have changed since then, and are open. @throws LinearError, ZodError */
export async function changedIssues(
  ask: AskLinear,
  since: number,
  signal: AbortSignal,
): Promise<readonly FarIssue[]> {
  return await allPages(async (after) => {
    const { data } = await ask(ISSUES, { since: new Date(since).toISOString(), after }, signal);
    return IssuePage.parse(data).issues;
  });
}

/** Returns comments on the user's issues that have changed since then. @throws LinearError, ZodError */
export async function changedComments(
  ask: AskLinear,
  since: number,
  signal: AbortSignal,
): Promise<readonly FarComment[]> {
  return await allPages(async (after) => {
    const { data } = await ask(COMMENTS, { since: new Date(since).toISOString(), after }, signal);
    return CommentPage.parse(data).comments;
  });
}

type Page<T> = { readonly nodes: readonly T[]; readonly pageInfo: z.output<typeof PageInfo> };

async function allPages<T>(
  page: (after: string | null) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let after: string | null = null;
  do {
    const { nodes, pageInfo }: Page<T> = await page(after);
    all.push(...nodes);
    after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
  } while (after !== null);
  return all;
}

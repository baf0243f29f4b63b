import { z } from 'zod';
import { type AskLinear, LinearError } from './api.ts';

const Issue = z.looseObject({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  url: z.string(),
  priorityLabel: z.string().nullish(),
  state: z.looseObject({ id: z.string(), name: z.string() }),
  assignee: z.looseObject({ name: z.string() }).nullish(),
  team: z.looseObject({
    states: z.looseObject({
      nodes: z.array(z.looseObject({ id: z.string(), name: z.string(), type: z.string() })),
    }),
  }),
  comments: z.looseObject({
    nodes: z.array(
      z.looseObject({
        body: z.string(),
        createdAt: z.string(),
        user: z.looseObject({ name: z.string() }).nullish(),
      }),
    ),
  }),
});
type Issue = z.output<typeof Issue>;

const ISSUE = `query Issue($id: String!) { issue(id: $id) {
  id identifier title description url priorityLabel state { id name } assignee { name }
  team { states(first: 50) { nodes { id name type } } }
  comments(first: 50) { nodes { body createdAt user { name } } }
} }`;
const UPDATE = `mutation Update($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success }
}`;

/** Linear's numbers of priorities. */
const PRIORITIES = { none: 0, urgent: 1, high: 2, medium: 3, low: 4 } as const;

/** A change of an issue. */
export type IssueChange = {
  readonly state?: string | undefined;
  readonly priority?: keyof typeof PRIORITIES | undefined;
  readonly title?: string | undefined;
  readonly unassign?: boolean | undefined;
};

/** Reads an issue by its identifier or id. @throws LinearError in words for the agent */
export async function readIssue(ask: AskLinear, id: string, signal?: AbortSignal) {
  const { team, comments, ...issue } = await find(ask, id, signal);
  const said = comments.nodes.toSorted((one, other) =>
    one.createdAt.localeCompare(other.createdAt),
  );
  return {
    issue: issue.identifier,
    title: issue.title,
    description: issue.description ?? '',
    state: issue.state.name,
    priority: issue.priorityLabel ?? 'none',
    assignee: issue.assignee?.name ?? null,
    url: issue.url,
    states: team.states.nodes.map(({ name }) => name),
    comments: said.map(({ user, body, createdAt: at }) => ({
      by: user?.name ?? 'a program',
      at,
      body,
    })),
  };
}

/** Changes an issue. @throws LinearError in words for the agent, such as the names of the states that there are */
export async function changeIssue(
  ask: AskLinear,
  id: string,
  { state, priority, title, unassign }: IssueChange,
  signal?: AbortSignal,
): Promise<string> {
  const issue = await find(ask, id, signal);
  const input = {
    ...(state === undefined ? {} : { stateId: stateOf(issue, state) }),
    ...(priority === undefined ? {} : { priority: PRIORITIES[priority] }),
    ...(title === undefined ? {} : { title }),
    ...(unassign === true ? { assigneeId: null } : {}),
  };
  if (Object.keys(input).length === 0)
    throw new LinearError('refused', 'Say what is to be changed.');
  await ask(UPDATE, { id: issue.id, input }, signal);
  return `${issue.identifier} is changed.`;
}

async function find(ask: AskLinear, id: string, signal?: AbortSignal): Promise<Issue> {
  const { data } = await ask(ISSUE, { id }, signal);
  const { issue } = z.looseObject({ issue: Issue.nullish() }).parse(data);
  if (issue == null) throw new LinearError('refused', `There is no issue ${id}.`);
  return issue;
}

function stateOf({ team }: Issue, wanted: string): string {
  const { nodes } = team.states;
  const found = nodes.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (found !== undefined) return found.id;
  const names = nodes.map(({ name }) => name).join(', ');
  throw new LinearError('refused', `There is no state “${wanted}” here. There are: ${names}.`);
}

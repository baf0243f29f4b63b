import type { IncomingMessage, ServerResponse } from 'node:http';
import { FarServer, OrderedFaults, readBytes } from '../../../src/testing/channel/far-server.ts';

/*
 * Linear's GraphQL API in this process, as far as the skill uses it. Its queries are those that Linear's own schema
 * (packages/sdk/src/schema.graphql of July 2026) takes; here they are told apart by their names.
 */

export type User = { readonly id: string; readonly name: string; readonly email: string };
type Issue = {
  readonly id: string;
  readonly identifier: string;
  title: string;
  description: string | null;
  stateId: string;
  priority: number;
  assigneeId: string | null;
  readonly creator: User;
  readonly createdAt: number;
  updatedAt: number;
  readonly history: { readonly at: number; readonly actor: User; readonly to: string | null }[];
};
type Comment = {
  readonly id: string;
  readonly issueId: string;
  readonly parentId: string | null;
  readonly user: User;
  body: string;
  readonly createdAt: number;
  updatedAt: number;
  editedAt: number | null;
};
type Input = Readonly<Record<string, string | number | null>>;
type Variables = {
  readonly id?: string;
  readonly input?: Input;
  readonly since?: string;
  readonly after?: string | null;
  readonly body?: string;
};
type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export const ME: User = {
  id: '00000000-0000-4000-8000-00000000000a',
  name: 'Andy',
  email: 'andy@example.org',
};
const STATES = [
  { id: 's1', name: 'Todo', type: 'unstarted' },
  { id: 's2', name: 'In Progress', type: 'started' },
  { id: 's3', name: 'Done', type: 'completed' },
];
const PAGE = 50;

/** In a text, becomes bytes that are no UTF-8. */
export const INVALID = '<invalid>';

export class LinearServer extends FarServer {
  key: string | null = 'lin_api_key-of-nobody';
  readonly issues: Issue[] = [];
  comments: Comment[] = [];
  readonly asked: string[] = [];
  /** The clock of the server runs ahead by this much. */
  aheadMs = 0;
  cutNext = false;
  readonly #faults = new OrderedFaults<'comment', Refusal | 'lost'>();
  #last = 0;

  override get url(): string {
    return `${super.url}/graphql`;
  }

  /** Times differ, and rise. */
  now(): number {
    this.#last = Math.max(this.#last + 1, Date.now() + this.aheadMs);
    return this.#last;
  }

  /** An issue is made, and assigned. */
  open(
    by: User,
    title: string,
    {
      to = ME.id,
      description = null,
      number = this.issues.length + 1,
    }: {
      readonly to?: string | null;
      readonly description?: string | null;
      readonly number?: number;
    } = {},
  ): Issue {
    const at = this.now();
    const issue: Issue = {
      id: `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`,
      identifier: `ENG-${number}`,
      title,
      description,
      stateId: 's1',
      priority: 0,
      assigneeId: to,
      creator: by,
      createdAt: at,
      updatedAt: at,
      history: [],
    };
    this.issues.push(issue);
    return issue;
  }

  assign(by: User, issue: Issue, to: string | null): void {
    issue.assigneeId = to;
    issue.updatedAt = this.now();
    issue.history.unshift({ at: issue.updatedAt, actor: by, to });
  }

  comment(by: User, { id: issueId }: Issue, body: string, parentId: string | null = null): Comment {
    const at = this.now();
    const id = `00000000-0000-4000-a000-${String(at).padStart(12, '0').slice(-12)}`;
    const comment = {
      id,
      issueId,
      parentId,
      user: by,
      body,
      createdAt: at,
      updatedAt: at,
      editedAt: null,
    };
    this.comments.push(comment);
    return comment;
  }

  edit(comment: Comment, body: string): void {
    const at = this.now();
    Object.assign(comment, { body, updatedAt: at, editedAt: at });
  }

  /** Comments of the assistant's. */
  get posted(): readonly Comment[] {
    return this.comments.filter(({ user }) => user === ME);
  }

  /** The next comment that is made, or the one so many later, is refused; or it is made, and the line is cut. */
  fail(refusal: Refusal | 'lost', later = 0): void {
    this.#faults.order(() => true, refusal, later);
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { query, variables } = JSON.parse((await readBytes(request)).toString());
    const name = /^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
    this.asked.push(name);
    const given = request.headers.authorization;
    const outcome =
      this.key === null || given !== this.key
        ? refusal(401, 'AUTHENTICATION_ERROR', 'Authentication required, not authenticated')
        : this.#carryOut(name, variables);
    if (outcome === 'lost') return void request.socket.destroy();
    const isRefused = 'status' in outcome;
    const {
      code,
      message,
      status = 200,
      headers = {},
    } = isRefused ? outcome : ({} as Partial<Refusal>);
    const body = isRefused
      ? { errors: [{ message, extensions: { code, type: code?.toLowerCase() } }] }
      : outcome;
    const [before = '', after] = JSON.stringify(body).split(INVALID);
    const bytes =
      after === undefined
        ? Buffer.from(before)
        : Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]);
    const date = new Date(Date.now() + this.aheadMs).toUTCString();
    response.writeHead(status, { date, 'content-type': 'application/json', ...headers });
    if (!this.cutNext) return void response.end(bytes);
    this.cutNext = false;
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  }

  #carryOut(name: string, variables: Variables): { data: unknown } | Refusal | 'lost' {
    const { id = '', input, since = '', after = null, body = '' } = variables;
    switch (name) {
      case 'Time':
      case 'Viewer':
        return { data: { viewer: ME, organization: { name: 'Acme' } } };
      case 'Issues': {
        const found = this.issues.filter(
          ({ assigneeId, stateId }) => assigneeId === ME.id && stateId !== 's3',
        );
        return {
          data: {
            issues: page(
              changedSince(found, since).map((issue) => this.#described(issue)),
              after,
            ),
          },
        };
      }
      case 'Comments': {
        const mine = new Set(
          this.issues.filter(({ assigneeId }) => assigneeId === ME.id).map((one) => one.id),
        );
        const found = changedSince(
          this.comments.filter(({ issueId }) => mine.has(issueId)),
          since,
        );
        return {
          data: {
            comments: page(
              found.map((comment) => this.#told(comment)),
              after,
            ),
          },
        };
      }
      case 'Issue': {
        const issue = this.#find(id);
        return issue === undefined
          ? refusal(400, 'INPUT_ERROR', 'Entity not found: Issue')
          : { data: { issue: this.#described(issue) } };
      }
      case 'Update': {
        const issue = this.#find(id);
        if (issue === undefined) return refusal(400, 'INPUT_ERROR', 'Entity not found: Issue');
        Object.assign(issue, input, { updatedAt: this.now() });
        return { data: { issueUpdate: { success: true } } };
      }
      case 'Comment':
        return input === undefined ? this.#found(id) : this.#create(input);
      case 'Edit': {
        const comment = this.comments.find((one) => one.id === id);
        if (comment === undefined) return refusal(400, 'INPUT_ERROR', 'Entity not found: Comment');
        this.edit(comment, body);
        return { data: { commentUpdate: { success: true } } };
      }
      case 'Remove':
        this.comments = this.comments.filter((one) => one.id !== id);
        return { data: { commentDelete: { success: true } } };
    }
    return refusal(400, 'GRAPHQL_VALIDATION_FAILED', `Unknown operation ${name}`);
  }

  #create(given: Input): { data: unknown } | Refusal | 'lost' {
    const failure = this.#faults.next('comment');
    if (failure !== null && failure !== 'lost') return failure;
    const issue = this.#find(String(given['issueId']));
    if (issue === undefined) return refusal(400, 'INPUT_ERROR', 'Entity not found: Issue');
    const id = String(given['id']);
    if (this.comments.some((one) => one.id === id)) {
      return refusal(
        400,
        'INPUT_ERROR',
        'conflict on insert of Comment: an entity with this id exists',
      );
    }
    const parentId = given['parentId'] == null ? null : String(given['parentId']);
    Object.assign(this.comment(ME, issue, String(given['body']), parentId), { id });
    return failure ?? { data: { commentCreate: { success: true, comment: { id } } } };
  }

  #found(id: string): { data: unknown } | Refusal {
    const isThere = this.comments.some((one) => one.id === id);
    return isThere
      ? { data: { comment: { id } } }
      : refusal(400, 'INPUT_ERROR', 'Entity not found: Comment');
  }

  #find(id: string): Issue | undefined {
    return this.issues.find((one) => one.id === id || one.identifier === id);
  }

  #described({ history, stateId, priority, assigneeId, createdAt, updatedAt, ...issue }: Issue) {
    const state = STATES.find(({ id }) => id === stateId);
    const comments = this.comments.filter(({ issueId }) => issueId === issue.id);
    return {
      ...issue,
      url: `https://linear.app/acme/issue/${issue.identifier}`,
      createdAt: time(createdAt),
      updatedAt: time(updatedAt),
      priorityLabel: ['No priority', 'Urgent', 'High', 'Medium', 'Low'][priority],
      state,
      assignee: assigneeId === ME.id ? ME : null,
      team: { name: 'Engineering', states: { nodes: STATES } },
      comments: { nodes: comments.map((one) => this.#told(one)) },
      history: {
        nodes: history.map(({ at, actor, to }) => ({
          createdAt: time(at),
          actor,
          toAssignee: to === null ? null : { id: to },
        })),
      },
    };
  }

  #told({ issueId, parentId, createdAt, updatedAt, editedAt, ...comment }: Comment) {
    const issue = this.#find(issueId);
    return {
      ...comment,
      createdAt: time(createdAt),
      updatedAt: time(updatedAt),
      editedAt: editedAt === null ? null : time(editedAt),
      parent: parentId === null ? null : { id: parentId },
      issue: { id: issueId, identifier: issue?.identifier },
    };
  }
}

export function refusal(status: number, code: string, message: string, headers = {}): Refusal {
  return { status, code, message, headers };
}

const time = (at: number): string => new Date(at).toISOString();

/** The newest first, as Linear orders them. */
function changedSince<T extends { readonly updatedAt: number }>(
  all: readonly T[],
  since: string,
): readonly T[] {
  return all
    .filter(({ updatedAt }) => updatedAt >= Date.parse(since))
    .toSorted((one, other) => other.updatedAt - one.updatedAt);
}

function page<T>(all: readonly T[], after: string | null) {
  const start = after == null ? 0 : Number(after);
  const end = start + PAGE;
  return {
    nodes: all.slice(start, end),
    pageInfo: { hasNextPage: end < all.length, endCursor: String(end) },
  };
}

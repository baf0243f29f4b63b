import { LINEAR_JID } from '../../lib/linear/settings.ts';
import type { InboundMessage } from '../channel.ts';
import type { FarComment, FarIssue, FarPerson } from './far.ts';

/** Something that a person did at Linear, as a message for the host. */
export type News = {
  readonly message: InboundMessage;
  readonly issueId: string;
  readonly by: FarPerson;
  /** The time of the change, by which Linear is asked. */
  readonly changedAt: number;
};

/** Puts what was found in the order in which it was said. What the assistant did itself is none. */
export function newsIn(
  issues: readonly FarIssue[],
  comments: readonly FarComment[],
  me: string,
): readonly News[] {
  const all = [
    ...issues.flatMap((issue) => assignment(issue, me)),
    ...comments.flatMap((comment) => remark(comment, me)),
  ];
  return all.sort((one, other) => one.message.sentAt - other.message.sentAt);
}

/** An issue that is assigned again later is a message again. */
function assignment(issue: FarIssue, me: string): readonly News[] {
  const assigned = issue.history.nodes
    .filter(({ toAssignee }) => toAssignee?.id === me)
    .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))[0];
  const by = assigned?.actor ?? issue.creator;
  if (by == null || by.id === me) return [];
  const at = assigned?.createdAt ?? issue.createdAt;
  const { id, identifier, title, description, url, state, team, priorityLabel } = issue;
  const facts = [
    `State: ${state.name}`,
    `priority: ${priorityLabel ?? 'none'}`,
    `team: ${team.name}`,
  ];
  const text = [
    `[assigns you ${identifier}] ${title}`,
    ...(description == null || description.trim() === '' ? [] : [description.trim()]),
    `${facts.join('; ')}\n${url}`,
  ].join('\n\n');
  const about = { id: `${id}-${Date.parse(at)}`, identifier, by, sentAt: Date.parse(at) };
  const message = { ...messageOf(about), text, thread: id };
  return [{ message, issueId: id, by, changedAt: Date.parse(issue.updatedAt) }];
}

/** Comments of programs have no user. */
function remark(comment: FarComment, me: string): readonly News[] {
  const { id, body, user: by, issue, parent, createdAt, editedAt, updatedAt } = comment;
  if (by == null || by.id === me) return [];
  const thread = `${issue.id}/${parent?.id ?? id}`;
  const about = { identifier: issue.identifier, by };
  const said = {
    ...messageOf({ ...about, id, sentAt: Date.parse(createdAt) }),
    text: body,
    thread,
  };
  const rest = { issueId: issue.id, by, changedAt: Date.parse(updatedAt) };
  if (editedAt == null) return [{ message: said, ...rest }];
  const correction = {
    ...messageOf({ ...about, id: `${id}-${Date.parse(editedAt)}`, sentAt: Date.parse(editedAt) }),
    text: `[corrects a comment of theirs: "${body.replace(/[\s\]]+/g, ' ').trim()}"]`,
    thread,
    mentionsAssistant: false,
    isContext: true,
  };
  // A comment that was changed before it was heard is heard as it is now.
  return [
    { message: said, ...rest },
    { message: correction, ...rest },
  ];
}

/**
 * Makes a message of a comment, which is always for the assistant. It counts as a direct one, which needs no
 * `/register`: the list of those who may write is closed.
 */
function messageOf({
  id,
  identifier,
  by,
  sentAt,
}: {
  readonly id: string;
  readonly identifier: string;
  readonly by: FarPerson;
  readonly sentAt: number;
}): Omit<InboundMessage, 'text'> {
  return {
    id,
    jid: LINEAR_JID,
    chatName: 'Linear',
    isDirect: true,
    sender: by.id,
    senderName: `${by.name} (${identifier})`,
    isOwner: false,
    mentionsAssistant: true,
    sentAt,
  };
}

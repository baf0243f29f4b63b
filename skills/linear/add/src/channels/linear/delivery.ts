import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type AskLinear, LinearError } from '../../lib/linear/api.ts';
import { LINEAR_JID } from '../../lib/linear/settings.ts';
import { reasonOf } from '../../lib/linear/viewer.ts';
import type { ChannelCapabilities, ChannelClock, OutboundMessage } from '../channel.ts';
import { editedParts, type PartStep } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import { splitMarkdown } from '../kit/split-markdown.ts';
import type { Records } from './records.ts';

/** Comments show Markdown as it is, belong to an issue, and can be changed. */
export const CAPABILITIES: ChannelCapabilities = { thread: true, edits: true };

/** A comment that people still read; Linear itself takes longer ones. */
const LIMIT = 16_000;
const JID = /^linear:(?:__channel__|([A-Za-z][A-Za-z0-9]{0,9}-\d{1,9}))$/;

export type DeliveryOptions = {
  readonly ask: AskLinear;
  readonly clock: ChannelClock;
  readonly records: Records;
  /** Throws where the channel is not connected. */
  readonly checkConnected: () => void;
};

/** Tells whether a JID is the chat with issues, or one issue: `linear:ENG-123`. */
export function isLinearJid(jid: string): boolean {
  return JID.test(jid);
}

/**
 * Sends messages as comments. Each has an id that is made of the host's, so one that is sent again after a crash, or
 * after an answer was lost, is there once.
 */
export function createDelivery(options: DeliveryOptions): PartDelivery<PartStep<string>> {
  const { clock, records, checkConnected } = options;
  return new PartDelivery<PartStep<string>>({
    partsOf({ id, text, replaces }) {
      checkConnected();
      return editedParts(splitMarkdown(text, LIMIT), records.sent.partsOf(id, replaces));
    },
    send: (message, step, signal) => carryOut({ ...options, message, signal }, step),
    pauseMs: (error) => (error instanceof LinearError ? error.waitMs : null),
    pause: (ms, signal) => clock.pause(ms, signal),
    explain: explainSend,
  });
}

type DeliveryRequest = DeliveryOptions & {
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
};

const CREATE = `mutation Comment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}`;
const UPDATE = `mutation Edit($id: String!, $body: String!) {
  commentUpdate(id: $id, input: { body: $body }) { success }
}`;
const REMOVE = 'mutation Remove($id: String!) { commentDelete(id: $id) { success } }';
const FIND = 'query Comment($id: String!) { comment(id: $id) { id } }';

async function carryOut(request: DeliveryRequest, step: PartStep<string>): Promise<void> {
  const { ask, message, records, signal } = request;
  const { jid, id } = message;
  if (step.kind === 'remove') {
    await orRefused(ask(REMOVE, { id: step.farId }, signal));
    return records.sent.remove({ jid, farId: step.farId });
  }
  const { part: text, at } = step;
  const known = step.kind === 'edit' ? step.farId : null;
  // Also where it is known from before a crash: the same text once more is no change.
  const isShown = known !== null && known === idOf(id, at) && message.replaces === undefined;
  if (isShown || (known !== null && records.sent.shows({ jid, farId: known, text }))) {
    return records.sent.note({ id, at, jid, farId: known, text });
  }
  const isEdited =
    known !== null && (await orRefused(ask(UPDATE, { id: known, body: text }, signal)));
  const farId = isEdited ? known : await create(request, text, at);
  records.sent.note({ id, at, jid, farId, text });
}

/** @returns the id of the comment */
async function create(request: DeliveryRequest, body: string, at: number): Promise<string> {
  const { ask, message, signal } = request;
  const id = idOf(message.id, at);
  const place = placeOf(request);
  try {
    await ask(CREATE, { input: { id, body, ...place } }, signal);
  } catch (error) {
    if (!(error instanceof LinearError) || error.kind !== 'refused') throw error;
    // Perhaps because it is there already, of an attempt whose answer was lost.
    const found = await ask(FIND, { id }, signal).catch(() => null);
    const { data } = z
      .looseObject({ data: z.looseObject({ comment: z.looseObject({}) }) })
      .safeParse(found);
    if (data === undefined) throw error;
  }
  return id;
}

/** The issue of the message that is answered, and the comment below which the answer belongs. */
function placeOf({ message, records }: DeliveryRequest): Readonly<Record<string, string>> {
  const [, identifier] = JID.exec(message.jid) ?? [];
  const [issueId, parentId] = message.thread?.split('/') ?? [];
  if (issueId !== undefined) return { issueId, ...(parentId === undefined ? {} : { parentId }) };
  if (identifier !== undefined) return { issueId: identifier };
  for (const id of message.answersTo ?? []) {
    const known = records.issueOf(id);
    if (known !== null) return { issueId: known };
  }
  throw new Error(
    `A message to ${LINEAR_JID} that answers nothing belongs to no issue. Send it to linear:ENG-123, for example.`,
  );
}

/** Makes the id of a comment, a UUID that is the same for the same message. */
function idOf(id: string, at: number): string {
  const hex = createHash('sha256').update(`linear ${id} ${at}`).digest('hex');
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...groups, hex.slice(20, 32)].join('-');
}

/** @returns false where Linear refuses, such as for a comment that was deleted */
async function orRefused(asking: Promise<unknown>): Promise<boolean> {
  try {
    await asking;
    return true;
  } catch (error) {
    if (error instanceof LinearError && error.kind === 'refused') return false;
    throw error;
  }
}

function explainSend(error: unknown): Error {
  if (!(error instanceof LinearError))
    return error instanceof Error ? error : new Error(String(error));
  if (error.kind === 'refused' && /not found|could not find/i.test(error.message)) {
    return new Error('The issue, or the comment that is answered, is gone from Linear.');
  }
  return new Error(reasonOf(error));
}

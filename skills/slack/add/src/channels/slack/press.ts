import type * as webApi from '@slack/web-api';
import { z } from 'zod';
import type { Choice, ChoiceOutcome, OutboundChoices } from '../channel.ts';
import { jidOf } from './jid.ts';

/**
 * Slack takes 25 buttons with 75 characters each. The text names the choices as well: an app that was made without
 * interactivity shows buttons that do nothing.
 */
export const BUTTONS = { most: 12, longest: 75, isBesideText: true } as const;

/** Characters of a text that can stand above buttons in one message. */
const SECTION = 3_000;
const BLOCK = 'question:';

/** One message of Slack's. */
export type SlackPart = { readonly text: string; readonly blocks?: readonly webApi.KnownBlock[] };

/** Puts the buttons of a question below its last part. */
export function withButtons(
  parts: readonly string[],
  choices: OutboundChoices | undefined,
): readonly SlackPart[] {
  const messages = parts.map((text) => ({ text }));
  const last = messages.at(-1);
  if (choices === undefined || last === undefined) return messages;
  const buttons = buttonsOf(choices);
  if (last.text.length > SECTION) return [...messages, { text: 'Choose here:', blocks: [buttons] }];
  const section = { type: 'section', text: { type: 'mrkdwn', text: last.text } } as const;
  return [...messages.slice(0, -1), { ...last, blocks: [section, buttons] }];
}

function buttonsOf({ question, options }: OutboundChoices): webApi.KnownBlock {
  return {
    type: 'actions',
    block_id: `${BLOCK}${question}`,
    elements: options.map(({ label }, at) => ({
      type: 'button',
      action_id: `choice-${at + 1}`,
      text: { type: 'plain_text', text: label },
      value: String(at + 1),
    })),
  };
}

const Press = z.looseObject({
  type: z.literal('block_actions'),
  user: z.looseObject({ id: z.string() }),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({
    ts: z.string(),
    text: z.string().default(''),
    blocks: z.array(z.looseObject({ type: z.string() })).default([]),
  }),
  actions: z.tuple(
    [z.looseObject({ block_id: z.string().startsWith(BLOCK), value: z.string() })],
    z.unknown(),
  ),
});

export type Press = z.output<typeof Press>;

/** Reads the body of an interactive envelope; null for everything that is no press of our buttons. */
export function readPress(body: unknown): Press | null {
  return Press.safeParse(body).data ?? null;
}

/** Returns the choice that a press is. */
export function choiceOf({ user, channel, actions: [{ block_id, value }] }: Press): Choice {
  const question = block_id.slice(BLOCK.length);
  return { jid: jidOf(channel.id), sender: user.id, isOwner: false, question, word: value };
}

const TOLD: Readonly<Record<ChoiceOutcome, string | null>> = {
  noted: null,
  'not-asked': 'This question is for another person.',
  closed: 'This question is not open any more.',
};

/**
 * Takes buttons away that are of no more use, and tells the one who pressed what they would not see. Never
 * rejects: the answer is stored.
 */
export async function showOutcome(
  web: webApi.WebClient,
  { user, channel, message }: Press,
  outcome: ChoiceOutcome,
): Promise<void> {
  const text = TOLD[outcome];
  const told = text && web.chat.postEphemeral({ channel: channel.id, user: user.id, text });
  const { ts } = message;
  const blocks = message.blocks.filter(({ type }) => type !== 'actions');
  const cleared =
    outcome !== 'not-asked' &&
    web.apiCall('chat.update', { channel: channel.id, ts, text: message.text, blocks });
  await Promise.allSettled([told, cleared]);
}

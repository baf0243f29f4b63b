import type { REST } from '@discordjs/rest';
import type { Choice, ChoiceOutcome, OutboundChoices } from '../channel.ts';
import type { FarInteraction } from './inbound/event.ts';
import { addressOf } from './interactions.ts';
import { jidOf } from './jid.ts';

const A_ROW = 5;
const ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;
/** Only the one who pressed sees the message. */
const EPHEMERAL = 64;
const PREFIX = 'choice:';

/** Makes the buttons of a question, an option each, named by its number. */
export function buttonsOf({ question, options }: OutboundChoices): readonly object[] {
  const buttons = options.map(({ label }, at) => ({
    type: BUTTON,
    style: SECONDARY,
    label,
    custom_id: `${PREFIX}${question}:${at + 1}`,
  }));
  const rows = Math.ceil(buttons.length / A_ROW);
  return Array.from({ length: rows }, (_, row) => ({
    type: ROW,
    components: buttons.slice(row * A_ROW, (row + 1) * A_ROW),
  }));
}

/** Reads a press as the choice that it is; null for a button that is not ours. */
export function choiceIn(
  { data: { custom_id: pressed } }: FarInteraction,
  {
    chatId,
    sender,
    isOwner,
  }: { readonly chatId: string; readonly sender: string; readonly isOwner: boolean },
): Choice | null {
  if (!pressed.startsWith(PREFIX)) return null;
  const [, question, word] = /^(.+):(\d{1,2})$/.exec(pressed.slice(PREFIX.length)) ?? [];
  if (question === undefined || word === undefined) return null;
  return { jid: jidOf(chatId), sender, isOwner, question, word };
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
  api: REST,
  interaction: FarInteraction,
  outcome: ChoiceOutcome,
): Promise<void> {
  const address = addressOf(interaction);
  const content = TOLD[outcome];
  const told = content && api.post(address, { body: { content, flags: EPHEMERAL }, auth: false });
  const cleared =
    outcome !== 'not-asked' &&
    api.patch(`${address}/messages/@original`, { body: { components: [] }, auth: false });
  await Promise.allSettled([told, cleared]);
}

import type { ModelMessage } from 'ai';
import type { TurnFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { Session } from '../conversation/session.ts';
import { type Prompt, summaryOf } from '../conversation/summary.ts';
import { languageModel } from '../model.ts';
import type { ReadPicture } from '../pictures/kept-pictures.ts';
import { withPictures } from '../pictures/seen-pictures.ts';

/** A conversation longer than this share of the model's window is summarised. */
const FULL = 0.75;
/** The newest messages, which stay as they were said. */
const KEPT = 4;
const BYTES_PER_TOKEN = 3;

/** Returns what was said before a turn, the older part as a summary where all of it is too long for the model. */
export async function conversationBefore(
  session: Session,
  model: TurnFrame['model'],
  readPicture: ReadPicture,
): Promise<readonly ModelMessage[]> {
  const { summary, tokens } = session.conversation;
  const { messages } = session;
  const length = tokens ?? Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / BYTES_PER_TOKEN);
  const cut = length > FULL * model.contextTokens ? cutOf(messages) : 0;
  const text = cut === 0 ? summary : await summarised(session, model, cut);
  const kept = text === null || text === summary ? messages : messages.slice(cut);
  const shown = model.seesPictures ? await withPictures(kept, readPicture) : kept;
  return text === null ? shown : [{ role: 'user', content: text }, GO_ON, ...shown];
}

const GO_ON: ModelMessage = {
  role: 'assistant',
  content: 'I know what was said before, and go on from there.',
};

/** Finds where the kept part begins: at the last question with so many messages from there; 0 for no such place. */
function cutOf(messages: readonly ModelMessage[]): number {
  const last = messages.length - KEPT;
  return Math.max(
    0,
    messages.findLastIndex(({ role }, at) => role === 'user' && at <= last),
  );
}

/** Returns the summary of all before `cut`; the earlier one where none can be made now, which the next turn tries again. */
async function summarised(
  session: Session,
  model: TurnFrame['model'],
  cut: number,
): Promise<string | null> {
  const { summary } = session.conversation;
  try {
    const text = await summaryOf({
      model: languageModel(model, 'summary'),
      older: session.messages.slice(0, cut).map(told),
      before: summary,
    });
    await session.summarise(text, cut);
    return text;
  } catch {
    return summary;
  }
}

/** Returns a message as text, which is all that a summary is made of. */
function told({ role, content }: ModelMessage): Prompt[number] {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const said = [{ type: 'text' as const, text }];
  return role === 'user' ? { role, content: said } : { role: 'assistant', content: said };
}

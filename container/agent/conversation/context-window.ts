import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import type { CallableModel } from '../model.ts';
import { fewerPictures, isFile, MOST_PICTURES, withNewest } from '../pictures/newest-pictures.ts';
import type { Session } from './session.ts';
import { type Prompt, type PromptMessage, summaryOf, textOf } from './summary.ts';
import { isTooLong } from './too-long.ts';

/** A conversation longer than this share of the model's window is summarised. */
const FULL = 0.75;
/** The newest messages, which stay as they were said. */
const KEPT = 4;
/** Stands where the oldest messages are left out without a summary. An older summary stays. */
const LEFT_OUT =
  'The older part of our conversation is left out here, to save room. Search the history of the chat where you need it.';
/** For what no model has counted yet. English has about four, most other scripts about three. */
const BYTES_PER_TOKEN = 3;
/** As long as a picture of the largest size counts, whatever its file. */
const PICTURE = ' '.repeat(1_600 * BYTES_PER_TOKEN);

type StreamCall = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type StreamedAnswer = Awaited<ReturnType<StreamCall['doStream']>>;

export type WindowParts = {
  readonly model: CallableModel;
  /** The model that writes summaries. */
  readonly summariser: CallableModel;
  /** False leaves the oldest messages out, without a summary. */
  readonly summarizes: boolean;
  /** The size of the model's window, in tokens. */
  readonly contextTokens: number;
  readonly session: Session;
};

/**
 * Keeps a turn's conversation within the model's window.
 *
 * It is between the loop of steps and the model, so that a conversation can be shortened in the middle of a
 * turn without any tool being called again. The loop and the transcript keep every message.
 */
export class ContextWindow {
  /** The model as the turn is to call it. */
  readonly model: CallableModel;
  readonly #parts: WindowParts;
  /** The summary of the messages before `from`. */
  #summary: { readonly text: string; readonly from: number } | null;
  /** The measured size of the first `count` messages and everything sent beside them. */
  #measured: { readonly tokens: number; readonly count: number } | null;
  #isKept = true;
  #hasFailed = false;
  /** Fewer where the model's server has refused that many. */
  #mostPictures: number = MOST_PICTURES;

  constructor(parts: WindowParts) {
    this.#parts = parts;
    const { summary, tokens, said } = parts.session.conversation;
    this.#summary = summary === null ? null : { text: summary, from: 0 };
    this.#measured = tokens === null ? null : { tokens, count: said.length };
    this.model = wrapLanguageModel({
      model: parts.model,
      middleware: {
        specificationVersion: 'v4',
        wrapStream: (call) => this.#stream(call),
      },
    });
  }

  /**
   * Returns the size of the conversation after the turn; null where the session knows it otherwise or it was
   * never counted.
   */
  get tokens(): number | null {
    return this.#isKept ? (this.#measured?.tokens ?? null) : null;
  }

  async #stream({ params, model }: StreamCall): Promise<StreamedAnswer> {
    const messages = params.prompt.filter(({ role }) => role !== 'system');
    const send = async (): Promise<StreamedAnswer> => {
      const prompt = withNewest(this.#promptOf(params.prompt), this.#mostPictures);
      try {
        return this.#measuring(await model.doStream({ ...params, prompt }), messages.length);
      } catch (error) {
        const fewer = fewerPictures(error, prompt);
        if (fewer === null) throw error;
        this.#mostPictures = fewer;
        return await send();
      }
    };
    const isFull = this.#lengthOf(params, messages) > FULL * this.#parts.contextTokens;
    // A summary that failed is tried again in the next turn: most conversations still fit.
    if (isFull && !this.#hasFailed) await this.#shorten(messages, false);
    for (;;) {
      try {
        return await send();
      } catch (error) {
        // Each round leaves out more; when nothing more can be left out, the error counts.
        if (!isTooLong(error) || !(await this.#shorten(messages, true))) throw error;
      }
    }
  }

  /** Returns the messages to send for the whole conversation. */
  #promptOf(prompt: Prompt): Prompt {
    const system = prompt.filter(({ role }) => role === 'system');
    const messages = prompt.filter(({ role }) => role !== 'system');
    if (this.#summary === null) return prompt;
    const { text, from } = this.#summary;
    const kept = messages.slice(from);
    const asksFirst = kept[0]?.role === 'user';
    const before = asksFirst ? text : `${text}\n\n${this.#asked(messages.slice(0, from))}`;
    // Between two messages of the user comes one of the assistant: some models insist on it.
    return [...system, textMessage('user', before), ...(asksFirst ? [GO_ON] : []), ...kept];
  }

  /** Returns the question that is being answered, where a summary replaces it. */
  #asked(older: Prompt): string {
    const questions = older.flatMap((message, at) => (message.role === 'user' ? [at] : []));
    const begin = this.#parts.session.conversation.said.length;
    const ofThisTurn = questions.filter((at) => at >= begin);
    const asked = ofThisTurn.length > 0 ? ofThisTurn : questions.slice(-1);
    const texts = asked.flatMap((at) => older.slice(at, at + 1)).map(textOf);
    return `You are answering this:\n${texts.join('\n')}`;
  }

  #lengthOf(params: StreamCall['params'], messages: Prompt): number {
    if (this.#measured !== null) {
      // The measured size includes the answer, which is the message that came next.
      return this.#measured.tokens + estimate(messages.slice(this.#measured.count));
    }
    return estimate([this.#promptOf(params.prompt), params.tools]);
  }

  /** Puts a summary in the place of the oldest messages. Returns false when that is not possible. */
  async #shorten(messages: Prompt, isRefused: boolean): Promise<boolean> {
    const { summariser, summarizes, contextTokens, session } = this.#parts;
    const from = this.#summary?.from ?? 0;
    const to = cutOf(messages, from, isRefused ? null : contextTokens / 2);
    if (to === null) return false;
    try {
      const older = messages.slice(from, to);
      const before = this.#summary?.text ?? null;
      const text = summarizes
        ? await summaryOf({ model: summariser, older, before })
        : (before ?? LEFT_OUT);
      this.#summary = { text, from: to };
    } catch {
      // The model's own error is the one that is told, if the turn cannot go on without a summary.
      this.#hasFailed = true;
      return false;
    }
    this.#measured = null;
    // Messages that are not in the transcript yet cannot be summarised in it; the next turn does that.
    this.#isKept = to <= session.conversation.said.length;
    if (this.#isKept) await session.summarise(this.#summary.text, to);
    return true;
  }

  #measuring(streamed: StreamedAnswer, count: number): StreamedAnswer {
    type Part = StreamedAnswer['stream'] extends ReadableStream<infer P> ? P : never;
    const reading = new TransformStream<Part, Part>({
      transform: (part, controller) => {
        if (part.type === 'finish') {
          const { inputTokens, outputTokens } = part.usage;
          const tokens = (inputTokens.total ?? 0) + (outputTokens.total ?? 0);
          this.#measured = tokens > 0 ? { tokens, count: count + 1 } : null;
        }
        controller.enqueue(part);
      },
    });
    return { ...streamed, stream: streamed.stream.pipeThrough(reading) };
  }
}

const GO_ON = textMessage('assistant', 'I know what was said before, and go on from there.');

function textMessage(role: 'user' | 'assistant', text: string): PromptMessage {
  return { role, content: [{ type: 'text', text }] };
}

/**
 * Finds where the kept part begins: at least the newest four messages, from a question of the user on. Where
 * that is too much, because one turn has grown that long, it begins at a step of the assistant: never between
 * a call and its result.
 *
 * @param maxTokens the limit of the part; null to leave out as much as possible
 */
function cutOf(messages: Prompt, from: number, maxTokens: number | null): number | null {
  const last = messages.length - KEPT;
  const cut = (isPlace: (message: PromptMessage) => boolean): number =>
    messages.findLastIndex((message, at) => at <= last && isPlace(message));
  const fits = (at: number): boolean =>
    maxTokens !== null && estimate(messages.slice(at)) <= maxTokens;
  const question = cut(({ role }) => role === 'user');
  if (question > from && (maxTokens === null || fits(question))) return question;
  // There is little more than the newest messages: the next turn can leave out more at once.
  if (fits(from)) return null;
  const step = cut(({ role }) => role !== 'tool');
  return step > from ? step : null;
}

function estimate(value: unknown): number {
  const text = JSON.stringify(value, (_, part) => (isFile(part) ? PICTURE : part)) ?? '';
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

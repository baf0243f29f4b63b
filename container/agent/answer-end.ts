import { APICallError } from 'ai';
import { shortened } from '../../src/lib/graphemes.ts';
import { TooManyCalls } from './bounded-calls.ts';

/** The end of a model's answer: in the words of the AI SDK, and as the server reported it. */
export type AnswerEnd = {
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
};

/** The model stopped to go on in a next call, and is asked again without a word. */
export function isPaused({ rawFinishReason }: AnswerEnd): boolean {
  return rawFinishReason === 'pause_turn';
}

/** Ends that mean a part of the answer is missing, where the AI SDK has no word for them. */
const BROKEN =
  /insufficient_system_resource|model_length|max_|abort|cancel|error|safety|recitation|blocklist|prohibited|compaction|repetition/i;

/**
 * Returns one line for the chat if an answer is incomplete: what happened, and what to do next. Null for a complete
 * one.
 *
 * @param hasText whether anything was said
 */
export function noticeOfEnd(end: AnswerEnd, hasText: boolean): string | null {
  const { finishReason, rawFinishReason: raw = '' } = end;
  if (raw === 'model_context_window_exceeded') {
    return '(The conversation is longer than the model can read, so the answer ends here. Say "go on" to continue, or `/reset` to begin a new conversation.)';
  }
  if (isPaused(end)) return '(The model stopped before it was done. Say "go on" to continue.)';
  if (finishReason === 'length') {
    return hasText
      ? '(The answer was cut at the length limit of the model. Say "go on" to continue.)'
      : '(The model reached its length limit before it said anything; it may have spent it on thinking. Ask for less at once, or choose another model with /model.)';
  }
  if (raw === 'refusal') {
    return '(The model refused to go on. Ask in other words, or choose another model with `/model`.)';
  }
  if (finishReason === 'content-filter') {
    return "(The provider's content filter stopped the answer. Ask in other words, or choose another model with `/model`.)";
  }
  if (finishReason === 'error' || (finishReason === 'other' && BROKEN.test(raw))) {
    return `(The model stopped before it was done${raw === '' ? '' : `: ${raw.slice(0, 60)}`}. Say "go on" to continue, or choose another model with \`/model\`.)`;
  }
  return null;
}

const MAX_FAULT_CHARS = 300;

/** Returns why the model did not answer, in a sentence. */
export function modelFault(error: unknown): string {
  if (APICallError.isInstance(error) || error instanceof TooManyCalls) return error.message;
  if (/without a finish reason/.test(String(error))) {
    return "The model's answer ended before it was done. Try again, or choose another model with `/model`.";
  }
  // The model's answer does not fit the provider's protocol, or its stream broke off.
  const why = error instanceof Error ? error.message : String(JSON.stringify(error));
  return `The model's answer could not be read: ${short(why)}`;
}

/** The libraries repeat what they could not read, whole: it has to fit into a line of the chat, and into a frame. */
function short(text: string): string {
  const line = text.slice(0, 2_000).replace(/[\s\p{Cc}]+/gu, ' ');
  return shortened(line, MAX_FAULT_CHARS);
}

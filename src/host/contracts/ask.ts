/** One way to answer: its number says it, and so does its word. */
export type AskChoice = { readonly word: string; readonly label: string };

/** A question in the middle of some work, which waits for the answer. */
export type AskQuestion = {
  /** The question, without how to answer it. */
  readonly text: string;
  /** Two to nine; none for yes or no. */
  readonly choices?: readonly AskChoice[];
  /** The next message of the person asked is the answer, in their own words; `cancel` gives none. */
  readonly takesText?: boolean;
  /** The subject of the answer, shown below the question exactly as it is, as JSON. */
  readonly payload?: unknown;
  /** The thing that a yes allows, in a few words: “`send_message`”. It names the question later on. */
  readonly what?: string;
  /** Ten minutes by default, a day at most. */
  readonly timeoutMs?: number;
};

/**
 * The answer to a question: the word of a choice; `yes` or `no` if there are no choices; `text` with the text, or
 * `cancel`, for a question that takes text.
 *
 * Without an answer the word is `no`: after the timeout, after other words, or when the work ended.
 */
export type AskReply = {
  readonly word: string;
  readonly isAnswered: boolean;
  /** The answer in own words; left out for every other. */
  readonly text?: string;
};

/**
 * Asks a person and waits for the answer, which only they can give, and only in the chat of the question.
 * Rejects a question that cannot be shown as it is.
 */
export type Ask<Question extends AskQuestion = AskQuestion> = (
  question: Question,
) => Promise<AskReply>;

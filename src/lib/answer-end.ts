/** The ways in which work on what was said can end. */
export const ANSWER_ENDS = [
  'answered',
  'failed',
  'rejected',
  'budget-used-up',
  'stopped',
  'given-up',
  'no-model',
  'no-sandbox',
] as const;

/** How work on what was said has ended; all but the first are a question without an answer. */
export type AnswerEnd = (typeof ANSWER_ENDS)[number];

/** How work on a message can end. */
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

/** How work on a message ended. Every end but `answered` leaves the question without an answer. */
export type AnswerEnd = (typeof ANSWER_ENDS)[number];

/** The reply to an answer about an operation that is over. */
export const NOT_WAITING = 'That operation does not wait any more.';

/** The advice after a change that could not go on. */
export const STILL_WAITING = '`/conflicts` goes on with it, `/conflicts give up` forgets it.';

/** Said before a question that is asked again, because the files are others now. */
export const PLANNED_AGAIN =
  'Something was edited since you were shown this, so it was planned again.';

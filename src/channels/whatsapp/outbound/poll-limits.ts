/** The options that a poll of WhatsApp has at most. */
export const MOST_OPTIONS = 12;

/** The characters that one of them has at most. */
export const LONGEST_OPTION = 100;

/** The characters that its name has at most. */
export const LONGEST_NAME = 255;

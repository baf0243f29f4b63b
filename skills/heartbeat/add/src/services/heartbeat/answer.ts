/** The word by which the agent says that nothing needs the owner. */
export const ALL_WELL = 'HEARTBEAT_OK';

/** Marks that a model may put around the word. */
const AROUND = '[\\s*_`"\'“”.!]*';
const QUIET = new RegExp(
  `^${AROUND}${ALL_WELL}(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])${ALL_WELL}${AROUND}$`,
);

/** Tells whether an answer begins or ends with the word, so that the owner is not told anything. */
export function isQuiet(answer: string): boolean {
  return QUIET.test(answer);
}

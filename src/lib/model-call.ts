/** Headers of an agent's call of the model that say what the call is for. They are never passed on to a server. */
export const WORK_HEADER = 'x-claw-work';
/** The run of models that is asked, counted from 0. */
export const RUN_HEADER = 'x-claw-run';
/** The status that tells the agent to ask again in the protocol of the next run. */
export const ASK_NEXT_RUN = 421;

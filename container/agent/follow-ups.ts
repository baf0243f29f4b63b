import type { UserModelMessage } from 'ai';

/** A message that was said in the chat while a turn runs. */
export type FollowUp = {
  readonly id: string;
  readonly message: UserModelMessage;
};

/** The follow-ups of one turn on their way to the loop that answers it. */
export class FollowUps {
  #waiting: FollowUp[] = [];
  #take: ((followUp: FollowUp) => void) | null = null;

  add(followUp: FollowUp): void {
    if (this.#take === null) this.#waiting.push(followUp);
    else this.#take(followUp);
  }

  /** Gives them to a loop: those that wait, and what comes from now on. */
  takenBy(take: (followUp: FollowUp) => void): void {
    this.#take = take;
    for (const followUp of this.#waiting.splice(0)) take(followUp);
  }
}

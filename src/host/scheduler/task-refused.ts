/** A request about a task that is impossible; the message says why, and what is possible. */
export class TaskRefused extends Error {
  override readonly name = 'TaskRefused';
}

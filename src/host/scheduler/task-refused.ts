/** A request about a task that cannot be done; the message says why and what can. */
export class TaskRefused extends Error {
  override readonly name = 'TaskRefused';
}

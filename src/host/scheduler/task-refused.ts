/** What was asked of a task cannot be done; the message says why and what can. */
export class TaskRefused extends Error {
  override readonly name = 'TaskRefused';
}

/**
 * Removes what a command no longer needs. By then the tree is decided, so a disk that refuses must not
 * make a failure of it: what stays is swept by a later command.
 */
export function tidyUp(remove: () => void): void {
  try {
    remove();
  } catch {
    // Only litter is left, and only until a later command.
  }
}

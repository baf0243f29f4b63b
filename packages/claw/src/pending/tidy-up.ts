/**
 * Removes what a command no longer needs, or fills a cache. By then the tree is decided, so a disk that
 * refuses must not make a failure of it: a later command sweeps what stays.
 */
export function tidyUp(work: () => void): void {
  try {
    work();
  } catch {
    // Only litter is left, and only until a later command.
  }
}

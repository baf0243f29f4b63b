/**
 * Where files went: layers rename, and whoever names an old path means the new one.
 * Built up layer by layer, in canonical order.
 */
export class Names {
  readonly #moved = new Map<string, string>();

  /** The present path of a file that something knew as `path`. */
  current(path: string): string {
    let at = path;
    for (let next = this.#moved.get(at); next !== undefined; next = this.#moved.get(at)) at = next;
    return at;
  }

  move(from: string, to: string): void {
    // A file that comes back to an earlier name ends the chain there instead of closing a circle.
    this.#moved.delete(to);
    this.#moved.set(from, to);
  }

  /** Every path that moved, as the release or the adding layer knew it, with where it is now. */
  all(): ReadonlyMap<string, string> {
    return new Map([...this.#moved.keys()].map((path) => [path, this.current(path)]));
  }
}

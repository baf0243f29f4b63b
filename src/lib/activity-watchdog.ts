/**
 * Tells when nothing was heard for too long.
 *
 * Work that the host itself does for the agent is no silence, however long it takes.
 */
export class ActivityWatchdog {
  #timer: NodeJS.Timeout | null = null;
  #underWay = 0;

  start(limitMs: number, onTooLong: () => void): void {
    this.#timer = setTimeout(() => {
      if (this.#underWay === 0) onTooLong();
    }, limitMs);
  }

  heard(): void {
    this.#timer?.refresh();
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
      this.heard();
    }
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

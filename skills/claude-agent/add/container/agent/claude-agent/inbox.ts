/** A queue that a loop reads as items come, until it is closed. */
export class Inbox<T> implements AsyncIterable<T> {
  #waiting: T[] = [];
  #isClosed = false;
  #wake: () => void = () => {};

  push(one: T): void {
    this.#waiting.push(one);
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#waiting.length > 0) continue;
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Does one thing after the other, in the order in which it came; what fails is remembered. */
export class InOrder {
  readonly failures: unknown[] = [];
  #work: Promise<void> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.then(
      () => {},
      (error: unknown) => {
        this.failures.push(error);
      },
    );
    return done;
  }

  /** @throws AggregateError of everything that failed */
  async end(): Promise<void> {
    await this.#work;
    if (this.failures.length > 0) throw new AggregateError(this.failures, 'the server failed');
  }
}

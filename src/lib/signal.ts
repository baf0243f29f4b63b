/** An event that says only that it happened: parts announce it, and parts that are opened later listen. */
export interface Signal {
  /** Calls every listener, in the order in which they came. */
  emit(): void;
  on(listener: () => void): void;
}

/** Creates an event without listeners. */
export function createSignal(): Signal {
  const listeners: (() => void)[] = [];
  return {
    emit() {
      for (const listener of listeners) listener();
    },
    on(listener) {
      listeners.push(listener);
    },
  };
}

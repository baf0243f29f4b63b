/** An event that parts announce, and parts that are opened later listen to; with a value, or only that it happened. */
export interface Signal<Value = void> {
  /** Calls every listener, in the order in which they came. */
  emit(value: Value): void;
  on(listener: (value: Value) => void): void;
}

/** Creates an event without listeners. */
export function createSignal<Value = void>(): Signal<Value> {
  const listeners: ((value: Value) => void)[] = [];
  return {
    emit(value) {
      for (const listener of listeners) listener(value);
    },
    on(listener) {
      listeners.push(listener);
    },
  };
}

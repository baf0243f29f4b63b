import { vi } from 'vitest';

/** The limit for waiting for an event: only a hang reaches it, also on a machine twenty times slower. */
const PATIENCE_MS = 240_000;
/** Vitest looks every 50 ms, which most tests would idle for. */
const INTERVAL_MS = 10;

const waitFor = vi.waitFor;

// `vi.waitFor` gives up after a second, and vitest has no setting for that. Workers share their modules
// between files, so this may run again in the same worker.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(check, options = {}) {
    const given = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(check, { timeout: PATIENCE_MS, interval: INTERVAL_MS, ...given });
  };
}

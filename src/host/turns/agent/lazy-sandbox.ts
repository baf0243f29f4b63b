import type { SandboxReady, SandboxUnavailable } from '../../../sandbox/sandbox.ts';

/** The sandbox, opened when it is first needed: finding an engine takes longer than a first prompt may. */
export interface LazySandbox {
  /** Every call gets the same sandbox. Where there was none, it is looked for again: an engine may come up later. */
  open(): Promise<SandboxReady | SandboxUnavailable>;
  /** Ends the containers of a group, or that of one of its turns; opens nothing for that. */
  stop(folder: string, turn?: string): Promise<void>;
  /** Returns the number of containers. */
  warm(): number;
  /** Closes what was opened, and opens nothing for that. What is still being opened is closed once it is there. */
  close(): Promise<void>;
}

export function lazySandbox(
  openSandbox: () => Promise<SandboxReady | SandboxUnavailable>,
): LazySandbox {
  let opening: Promise<SandboxReady | SandboxUnavailable> | null = null;
  let ready: SandboxReady['sandbox'] | null = null;
  let isClosed = false;
  return {
    open() {
      opening ??= openSandbox().then(
        (opened) => {
          if (opened.kind === 'unavailable') opening = null;
          else if (isClosed) void opened.sandbox.close().catch(() => {});
          else ready = opened.sandbox;
          return opened;
        },
        (error: unknown) => {
          opening = null;
          throw error;
        },
      );
      return opening;
    },
    warm: () => ready?.warm() ?? 0,
    async stop(folder, turn) {
      const opened = await opening?.catch(() => null);
      if (opened?.kind === 'ready') await opened.sandbox.stop(folder, turn);
    },
    async close() {
      isClosed = true;
      opening = null;
      // Making the agent's bundle and image takes longer than an end may.
      await ready?.close();
    },
  };
}

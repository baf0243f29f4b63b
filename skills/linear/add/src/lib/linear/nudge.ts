import { channel } from 'node:diagnostics_channel';

/*
 * The webhook comes in at a service, and the channel asks Linear: both are parts of one process that do not know each
 * other. What is told is only that there is something new.
 */

/** Tells the channel of this installation that something has changed at Linear. */
export function nudge(dataDir: string): void {
  channel(nameOf(dataDir)).publish({});
}

/** Calls back at each nudge, until the signal is aborted. */
export function onNudge(dataDir: string, callBack: () => void, signal: AbortSignal): void {
  const heard = () => callBack();
  channel(nameOf(dataDir)).subscribe(heard);
  signal.addEventListener('abort', () => channel(nameOf(dataDir)).unsubscribe(heard), {
    once: true,
  });
}

function nameOf(dataDir: string): string {
  return `patchclaw:linear:${dataDir}`;
}

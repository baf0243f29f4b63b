import type { HostLog } from '../contracts/log.ts';

/**
 * Makes a folder of a group, or what of it is missing. One that cannot be made now is made at the next start
 * or turn: it is logged, so that chats still get answers.
 */
export function completeFolder(log: HostLog, folder: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    log.warn('the folder of a group is not complete', { folder, error: String(error) });
  }
}

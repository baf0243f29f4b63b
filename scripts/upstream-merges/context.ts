import type { EngineContext } from '../../packages/claw/src/index.ts';

/** Returns the surroundings of a verb in a clone: nothing is installed, and nobody is asked. */
export function contextOf(root: string): EngineContext {
  return {
    root,
    cwd: root,
    now: () => new Date(),
    environment: process.env,
    onProgress: () => {},
    allow: [],
    skipsInstall: true,
    confirm: null,
  };
}

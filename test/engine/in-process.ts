import type { EngineContext } from '../../packages/claw/src/index.ts';
import type { Codebase } from '../../src/testing/claw/codebase.ts';

/** The library's view of a codebase, for tests that would otherwise start hundreds of processes. */
export function contextOf({ root }: Codebase): EngineContext {
  return {
    root,
    cwd: root,
    now: () => new Date(),
    environment: {},
    onProgress: () => {},
    allow: [],
    confirm: null,
  };
}

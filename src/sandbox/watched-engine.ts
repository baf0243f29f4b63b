import type { Engine } from './engine.ts';
import type { SandboxOptions } from './sandbox.ts';

/** The same engine, telling of each box when it runs and when it is gone. */
export function watchedEngine(engine: Engine, onContainer: SandboxOptions['onContainer']): Engine {
  if (onContainer === undefined) return engine;
  return {
    ...engine,
    async startBox(spec) {
      const box = await engine.startBox(spec);
      onContainer(spec.folder, { kind: 'started', id: box.id });
      void box.ended.then((reason) =>
        onContainer(spec.folder, { kind: 'ended', id: box.id, reason }),
      );
      return box;
    },
  };
}

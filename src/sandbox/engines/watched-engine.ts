import type { SandboxOptions } from '../sandbox.ts';
import type { Engine } from './engine.ts';

const ID_LENGTH = 12;

/** The same engine, telling of each box when it runs and when it is gone. */
export function watchedEngine(engine: Engine, onContainer: SandboxOptions['onContainer']): Engine {
  if (onContainer === undefined) return engine;
  return {
    ...engine,
    async startBox(spec) {
      const box = await engine.startBox(spec);
      // As the engine's own lists show it.
      const id = box.id.slice(0, ID_LENGTH);
      onContainer(spec.folder, { kind: 'started', id });
      void box.ended.then((reason) => onContainer(spec.folder, { kind: 'ended', id, reason }));
      return box;
    },
  };
}

import type { SandboxOptions } from '../sandbox.ts';
import type { Engine } from './engine.ts';

const ID_LENGTH = 12;

/** Returns the same engine, telling of each container when it runs and when it is gone. */
export function watchedEngine(engine: Engine, onContainer: SandboxOptions['onContainer']): Engine {
  if (onContainer === undefined) return engine;
  return {
    ...engine,
    async startContainer(spec) {
      const container = await engine.startContainer(spec);
      // As the engine's own lists show it.
      const id = container.id.slice(0, ID_LENGTH);
      onContainer(spec.folder, { kind: 'started', id });
      void container.ended.then((reason) =>
        onContainer(spec.folder, { kind: 'ended', id, reason }),
      );
      return container;
    },
  };
}

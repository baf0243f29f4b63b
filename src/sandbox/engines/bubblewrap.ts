import { defineEngine, type Engine } from './engine.ts';

export const engine = defineEngine({
  name: 'bubblewrap',
  order: 300,
  limits: 'process',
  install: 'install bubblewrap (Debian: `sudo apt install bubblewrap`)',
  create({ user, uid, nodePath }) {
    const open = async (): Promise<Engine> => {
      const { openBubblewrap } = await import('./bwrap/bwrap.ts');
      return openBubblewrap({ user, isRoot: uid === 0, nodePath });
    };
    return {
      open,
      async look() {
        const { description } = await open();
        return { description, image: null, containers: [], rootDir: null };
      },
    };
  },
});

import { z } from 'zod';
import { defineEngine, type EngineFinder } from './engine.ts';

export const engine = defineEngine({
  name: 'docker',
  order: 100,
  limits: 'container',
  install:
    'install Docker (Debian: `sudo apt install docker.io`; macOS: Docker Desktop) and start it',
  settings: z.object({ DOCKER_HOST: z.string().optional() }),
  create({ settings, projectDir, dataDir, user, uid, homeDir, baseImage, builds, onProgress }) {
    const finder = async (): Promise<EngineFinder> => {
      const { daemonFinder } = await import('./daemon/find.ts');
      return daemonFinder({
        name: 'docker',
        dockerHost: settings.DOCKER_HOST ?? null,
        projectDir,
        dataDir,
        user,
        uid,
        homeDir,
        baseImage,
        builds,
        onProgress,
      });
    };
    return {
      open: async () => (await finder()).open(),
      look: async () => (await finder()).look(),
    };
  },
});

import { defineEngine, type EngineFinder } from './engine.ts';

export const engine = defineEngine({
  name: 'podman',
  order: 200,
  limits: 'container',
  install:
    'install podman (Debian: `sudo apt install podman`) and start its service: `systemctl --user start podman.socket`, as root without `--user`',
  create({ projectDir, dataDir, user, uid, homeDir, baseImage, builds, onProgress }) {
    const finder = async (): Promise<EngineFinder> => {
      const { daemonFinder } = await import('./daemon/find.ts');
      return daemonFinder({
        name: 'podman',
        dockerHost: null,
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

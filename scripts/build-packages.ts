// Makes the packages that are published: `npm run build:packages [folder]` writes a tarball of each into dist/.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildPackage, packPackage } from '../packages/claw/build/package.ts';

const out = resolve(process.argv[2] ?? 'dist');
for (const which of ['merge', 'claw'] as const) {
  const folder = join(out, which);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await buildPackage(folder, which);
  console.log(packPackage(folder, out));
}

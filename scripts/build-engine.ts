// Makes the engine's package, alone: `npm run build:engine [folder]` writes a tarball into dist/.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildPackage, packPackage } from '../packages/claw/build/package.ts';

const out = resolve(process.argv[2] ?? 'dist');
const folder = join(out, 'engine');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await buildPackage(folder);
console.log(packPackage(folder, out));

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SRC = resolve(import.meta.dirname, '..');

/**
 * A temporary folder of contributions, as a skill would add them. Their texts import `zod` and, by paths
 * from `src/` such as `src/host/contracts/tool.ts`, what they need of the core.
 */
export class ContributionFolder {
  readonly dir = mkdtempSync(join(tmpdir(), 'claw-contributions-'));

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    const linked = text
      .replaceAll("from 'zod'", `from '${import.meta.resolve('zod')}'`)
      .replaceAll(/from 'src\/([^']+)'/g, (_, path) => `from '${pathToFileURL(join(SRC, path))}'`);
    writeFileSync(join(this.dir, name), linked);
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { examineSandbox } from '../sandbox/examine.ts';
import { defineExamination, ok, problem } from './examination.ts';

const AREA = 'claude-agent';
const SDK = '@anthropic-ai/claude-agent-sdk';
const SHARED = 'container/shared/claude-agent';
const SYSTEM = ['/usr/local/lib/node_modules', '/usr/lib/node_modules'];

const Packages = z.object({ npm: z.record(z.string(), z.string()).default({}) });

/** Tells whether agents find the Agent SDK where they run; without it they work with the loop of the core. */
export const examination = defineExamination({
  area: AREA,
  order: 68,
  settings: z.object({}),
  async examine({ projectDir, homeDir, settings, environment }) {
    if (settings === null) return [];
    const { chosen, image } = await examineSandbox({ projectDir, homeDir, settings, environment });
    if (chosen === null) return [];
    const folders = [join(projectDir, SHARED, 'node_modules'), ...(image === null ? SYSTEM : [])];
    const found = folders.find((folder) => existsSync(join(folder, SDK)));
    if (found !== undefined) return [ok(AREA, `the Agent SDK is in ${found}`)];
    const version = versionIn(projectDir);
    if (image !== null && version !== undefined) {
      const what = image.isThere ? 'is part of' : 'will be part of';
      return [ok(AREA, `the Agent SDK ${version} ${what} the agent's image`)];
    }
    const install = `npm install --no-save --no-package-lock --prefix ${SHARED} ${SDK}@${version ?? 'latest'}`;
    return [
      problem(
        AREA,
        `the Agent SDK is nowhere that agents in ${chosen} can read, so they use the loop of the core`,
        install,
      ),
    ];
  },
});

function versionIn(projectDir: string): string | undefined {
  const text = readFileSync(join(projectDir, 'container/packages.json'), 'utf8');
  return Packages.parse(JSON.parse(text)).npm[SDK];
}

import { existsSync, globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import type { ChannelSubject } from '../../src/testing/channel/far-end.ts';
import { subjects } from './collect-channels.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const COLLECTOR = new URL('./collect-channels.ts', import.meta.url).href;

/** Returns the channels of this tree, each with the far end that its tests of the rules use: those of applied skills, and WhatsApp. */
export async function channelsHere(): Promise<readonly ChannelSubject[]> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.endsWith('/testing/channel/conformance.ts')
        ? { url: COLLECTOR, shortCircuit: true }
        : next(specifier, context),
  });
  const applied = globSync('skills/*/tests/conformance.test.ts', { cwd: ROOT }).filter((path) =>
    existsSync(join(ROOT, `src/channels/${path.split('/')[1]}.ts`)),
  );
  for (const path of ['src/channels/whatsapp/tests/conformance.slow.test.ts', ...applied]) {
    await import(join(ROOT, path));
  }
  return subjects;
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Requirements } from './front-matter.ts';

/** The place where a skill would run. */
export type Here = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
};

/** Returns what a skill needs and is not here, in a few words each. */
export async function missingHere(
  { bins, anyBins, env, tools, anyTools, os }: Requirements,
  here: Here,
): Promise<readonly string[]> {
  const [each, any] = await Promise.all([
    Promise.all(bins.map((name) => hasProgram(name, here.env['PATH']))),
    Promise.all(anyBins.map((name) => hasProgram(name, here.env['PATH']))),
  ]);
  const hasTool = (name: string) => here.tools.some((tool) => fits(tool, name));
  return [
    ...bins.filter((_, at) => !each[at]).map((name) => `program ${name}`),
    ...(anyBins.length > 0 && !any.includes(true) ? [`program ${anyBins.join(' or ')}`] : []),
    ...env.filter((name) => !here.env[name]).map((name) => `environment variable ${name}`),
    ...tools.filter((name) => !hasTool(name)).map((name) => `tool ${name}`),
    ...(anyTools.length > 0 && !anyTools.some(hasTool) ? [`tool ${anyTools.join(' or ')}`] : []),
    ...(os.length > 0 && !os.includes(here.platform) ? [`system ${os.join(' or ')}`] : []),
  ];
}

function fits(tool: string, wanted: string): boolean {
  return wanted.endsWith('*') ? tool.startsWith(wanted.slice(0, -1)) : tool === wanted;
}

async function hasProgram(name: string, path = ''): Promise<boolean> {
  if (name.includes('/')) return false;
  for (const folder of path.split(delimiter).filter((one) => one !== '')) {
    const isThere = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

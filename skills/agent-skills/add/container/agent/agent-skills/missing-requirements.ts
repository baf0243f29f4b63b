import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Requirements } from './front-matter.ts';
import type { Asks } from './inferred-requirements.ts';

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
  hasProgram = programLookup(here.env['PATH']),
): Promise<readonly string[]> {
  const [each, any] = await Promise.all([
    Promise.all(bins.map(hasProgram)),
    Promise.all(anyBins.map(hasProgram)),
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

/** Returns what the text of a skill asks for and is not here, in a few words each. The container has no network. */
export async function beyondHere(
  { programs, installs, hosts, secrets, files }: Asks,
  here: Here,
  hasProgram = programLookup(here.env['PATH']),
): Promise<readonly string[]> {
  const isThere = await Promise.all(programs.map(hasProgram));
  const absent = programs.filter((_, at) => !isThere[at]);
  const keys = secrets.filter((name) => !here.env[name]);
  return [
    ...(absent.length > 0 ? [`programs (${absent.join(', ')})`] : []),
    ...(installs.length > 0 ? [`installing (${installs.join(', ')})`] : []),
    ...(hosts.length > 0 ? [`the network (${hosts.join(', ')})`] : []),
    ...(keys.length > 0 ? [`secrets (${keys.join(', ')})`] : []),
    ...(files.length > 0 ? [`files outside the chat (${files.join(', ')})`] : []),
  ];
}

function fits(tool: string, wanted: string): boolean {
  return wanted.endsWith('*') ? tool.startsWith(wanted.slice(0, -1)) : tool === wanted;
}

/** Looks programs up in the folders of a path, each once: many skills name the same. */
export function programLookup(path: string | undefined): (name: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (name) => {
    const found = known.get(name) ?? isInPath(name, path);
    known.set(name, found);
    return found;
  };
}

async function isInPath(name: string, path = ''): Promise<boolean> {
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

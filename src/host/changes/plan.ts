import { TreeChangeData } from '@patchclaw/claw/contract';
import type { z } from 'zod';
import { type ClawResult, dataBy } from '../contracts/claw.ts';

/** Things that a change of the code brings, as the owner is told of them. */
export type Brings = Pick<
  z.output<typeof TreeChangeData>,
  'skills' | 'packages' | 'settings' | 'requiredSettings' | 'settingsGone'
>;

const NOTHING: Brings = {
  skills: [],
  packages: [],
  settings: [],
  requiredSettings: [],
  settingsGone: [],
};

/** Returns what a change brings; nothing if the result does not say, as for an undo. */
export function bringsOf(result: ClawResult): Brings {
  return dataBy(TreeChangeData, result) ?? NOTHING;
}

/** Returns a plan in lines: files, then packages and settings if it brings some. Removals are not listed. */
export function planLines(result: ClawResult, isSet: (setting: string) => boolean): string {
  const { packages, settings, requiredSettings } = bringsOf(result);
  const isOptional = (name: string) => !isSet(name) && !requiredSettings.includes(name);
  const optional = settings.filter(isOptional);
  const listed = settings.filter((name) => !isOptional(name) || optional.length <= NAMED_SETTINGS);
  const named = listed.map((name) => {
    if (isSet(name)) return name;
    return `${name} (${isOptional(name) ? 'optional' : 'not set'})`;
  });
  if (optional.length > NAMED_SETTINGS) {
    named.push(`${optional.length} optional ones, which \`.env.example\` explains`);
  }
  return [
    `- files: ${filesLine(result.changes)}`,
    ...(packages.length > 0 ? [`- packages: ${packages.join(', ')}`] : []),
    ...(named.length > 0 ? [`- settings: ${named.join(', ')}`] : []),
  ].join('\n');
}

/** The words for kinds of changes, those first that touch files the owner has. */
const KINDS = { modify: 'changed', delete: 'deleted', rename: 'renamed', add: 'new' } as const;
const NAMED_FILES = 4;
/** Up to this many optional settings are named; beyond that only their number is shown. */
const NAMED_SETTINGS = 4;

/** Returns how many files change in each way, with the names of the first ones. */
function filesLine(changes: ClawResult['changes']): string {
  let left = NAMED_FILES;
  const parts = Object.entries(KINDS).flatMap(([kind, word]) => {
    const paths = changes.filter((it) => it.kind === kind).map(({ path }) => path);
    if (paths.length === 0) return [];
    const named = paths.slice(0, left);
    left -= named.length;
    const more = paths.length > named.length ? ' …' : '';
    return `${paths.length} ${word}${named.length > 0 ? ` (${named.join(', ')}${more})` : ''}`;
  });
  return parts.join(', ') || 'none';
}

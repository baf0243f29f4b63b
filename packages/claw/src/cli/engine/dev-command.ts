import type { Command } from 'commander';
import { harmlessLines } from '../../text/screen.ts';
import { packLines, renewedPackage } from '../../verbs/pack/print.ts';
import { type DevelopEvent, develop, type EngineContext, type VerbResult } from '../../verbs.ts';
import { renderJson } from '../result.ts';
import type { ReadCode } from './invocation.ts';

/** Options of `claw dev`, beside a name and paths. */
export type DevArguments = { readonly once?: boolean };

type DevWay = { readonly isJson: boolean; readonly readCode: ReadCode };

/** Defines `claw dev` with its options. */
export function devCommand(program: Command): Command {
  return program
    .command('dev')
    .description(
      'work on an applied skill: at each save, check and test its edits and put them into its package',
    )
    .argument('<skill>', 'an applied skill; make a new one with claw pack')
    .argument('[path...]', 'more files or folders that belong to it')
    .option('--once', 'do it once, for the present edits');
}

/** Runs `claw dev`: a line for each save on stderr, or with --json an object for each on stdout. */
export async function devVerb(
  context: EngineContext,
  name: string,
  paths: readonly string[],
  { once = false, isJson, readCode }: DevArguments & DevWay,
): Promise<VerbResult<'dev'>> {
  const onEvent = (event: DevelopEvent) => {
    if (isJson) process.stdout.write(`${JSON.stringify(eventJson(event))}\n`);
    else process.stderr.write(`${harmlessLines(eventLines(event, new Date()).join('\n'))}\n`);
  };
  // What a proof does is told by its outcome: a spinner would tear the lines apart.
  const quiet = once ? context : { ...context, onProgress: () => {} };
  return await develop(quiet, name, { named: paths, isOnce: once, onEvent, readCode });
}

function eventJson(event: DevelopEvent): object {
  if (event.kind !== 'round') return event;
  const { kind, paths, result, milliseconds } = event;
  return { kind, paths, seconds: seconds(milliseconds), result: JSON.parse(renderJson(result)) };
}

/** Returns a save in one line, and what failed below it. */
export function eventLines(event: DevelopEvent, now: Date): readonly string[] {
  const time = now.toTimeString().slice(0, 8);
  if (event.kind === 'watching') {
    return [`${time}  watching for ${event.skill} ${event.version}; Ctrl-C ends`];
  }
  if (event.kind === 'checking') return [`${time}  checking ${shortList(event.paths)}`];
  const { paths, result, milliseconds } = event;
  const head = (mark: string, text: string) =>
    `${time}  ${mark} ${text}${paths.length === 0 ? '' : `  after ${shortList(paths)}`}  ${seconds(milliseconds)} s`;
  const renewed = renewedPackage(result.data);
  const left = (renewed === null ? [] : packLines({ ...renewed, folded: [] })).map(
    (line) => `          ${line}`,
  );
  const warnings = result.warnings.map((warning) => `          warning: ${warning}`);
  if (result.error !== null) {
    const [first = '', ...rest] = result.error.message.split('\n');
    return [
      head('✗', `${result.error.code}: ${first}`),
      ...rest.map((line) => `          ${line}`),
    ];
  }
  if (result.outcome === 'blocked') {
    const reasons = result.conflicts.map(({ path, reason }) => `          ${path}: ${reason}`);
    return [head('✗', 'blocked: claw resolve decides'), ...reasons];
  }
  const folded = renewed?.folded ?? [];
  const what =
    folded.length > 0
      ? shortList(folded)
      : result.outcome === 'nothing'
        ? 'nothing new'
        : 'its own files';
  return [head('✓', `${renewed?.skill} ${renewed?.version}: ${what}`), ...left, ...warnings];
}

function shortList(paths: readonly string[]): string {
  const more = paths.length - 3;
  return [...paths.slice(0, 3), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}

import { type Command, Option } from 'commander';
import type { EngineContext, VerbResult } from '../../commands.ts';
import * as engine from '../../commands.ts';
import type { ReadCode } from './invocation.ts';

/** Options of `claw pack`, beside a name and paths. */
export type PackArguments = {
  readonly update?: boolean;
  readonly range?: string;
  readonly description?: string;
  readonly patch?: boolean;
  readonly minor?: boolean;
  readonly major?: boolean;
  /** False for `--no-proof`. */
  readonly proof: boolean;
};

const LEVELS = ['patch', 'minor', 'major'] as const;

/** Defines `claw pack` with its options. */
export function packCommand(program: Command): Command {
  return program
    .command('pack')
    .description(
      'make a package under skills/ of your edits, or of those at the paths; with --update, put edits back into one that is there',
    )
    .argument('<name>', 'the name of the skill')
    .argument(
      '[path...]',
      'the edits to take, files or folders; with --update, beside those of the skill’s own files',
    )
    .addOption(
      new Option(
        '--update',
        'fold the edits of the skill’s files into its package, written for the core here',
      ).conflicts(['range', 'description']),
    )
    .addOption(
      new Option(
        '--patch',
        'with --update: raise the version by a patch, as where others may have it',
      ).conflicts(['minor', 'major']),
    )
    .addOption(new Option('--minor', 'with --update: by a minor version').conflicts('major'))
    .addOption(new Option('--major', 'with --update: by a major version'))
    .option('--no-proof', 'with --update: without checks and tests')
    .option('--range <a..b>', 'what these commits changed, instead of the unrecorded edits')
    .option('--description <text>', 'what the skill does, in a sentence');
}

/** Runs `claw pack`. */
export async function packVerb(
  context: EngineContext,
  name: string,
  paths: readonly string[],
  options: PackArguments & { readonly readCode: ReadCode },
): Promise<VerbResult<'pack'>> {
  const { readCode, range = null, description = null } = options;
  const level = LEVELS.find((one) => options[one] === true) ?? null;
  if (options.update === true) {
    const isUnproved = !options.proof;
    return await engine.renewPackage(context, name, {
      named: paths,
      level,
      isUnproved,
      readCode,
    });
  }
  const renewing = [
    ...(level === null ? [] : [`--${level}`]),
    ...(options.proof ? [] : ['--no-proof']),
  ];
  const request = { range, description, named: paths, renewing, readCode };
  return await engine.pack(context, name, request);
}

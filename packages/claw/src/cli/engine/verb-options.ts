import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EngineContext, MatrixRequest, UpdateOptions, VerbResult } from '../../verbs.ts';
import * as engine from '../../verbs.ts';
import type { ReadCode } from './invocation.ts';

/** Options that name a release. */
export type ReleaseOptions = { readonly coreVersion?: string; readonly release?: string };

/** Returns them as the engine takes them. */
export function releaseOf({ release, coreVersion }: ReleaseOptions) {
  return { release: release ?? null, coreVersion: coreVersion ?? null };
}

/** Options of `claw update`, beside a release. */
export type UpdateArguments = ReleaseOptions & {
  readonly retireContained?: boolean;
  readonly keep?: readonly string[];
  readonly moved?: readonly string[];
};

/** Makes `--retire-contained`. */
export function retireOption(): Option {
  const text = 'with update: remove every skill that the release contains, without asking';
  return new Option('--retire-contained', text);
}

/** Makes `--keep`. */
export function keepOption(): Option {
  const text = 'with update: keep this skill, although the release contains it; may be repeated';
  return repeatable(new Option('--keep <skill>', text));
}

/** Makes `--moved`. */
export function movedOption(): Option {
  const text =
    'with update: a file or folder that the release moved without declaring it, or old= for one that did not move; may be repeated';
  return repeatable(new Option('--moved <old=new>', text));
}

function repeatable(option: Option): Option {
  return option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

/** Makes `--by`. */
export function byOption(): Option {
  const text =
    'with adopt: make a customisation for each commit, branch or folder, not one for all';
  return new Option('--by <topics>', text).choices(['commit', 'branch', 'folder']);
}

/** Returns options of an update as the engine takes them. */
export function updateOf({
  release,
  retireContained,
  keep,
  moved,
}: UpdateArguments): UpdateOptions {
  return {
    release: release ?? null,
    retireContained: retireContained === true,
    retire: [],
    keep: keep ?? [],
    moved: moved ?? [],
  };
}

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
      'make a package under skills/ from your edits, or from those at the paths; with --update, put edits back into an existing package',
    )
    .argument('<name>', 'the name of the skill')
    .argument(
      '[path...]',
      'the edits to take, files or folders; with --update, in addition to those of the skill’s own files',
    )
    .addOption(
      new Option(
        '--update',
        'put the edits of the skill’s files into its package, written for the present core',
      ).conflicts(['range', 'description']),
    )
    .addOption(
      new Option(
        '--patch',
        'with --update: raise the patch version (the default if others may have this one)',
      ).conflicts(['minor', 'major']),
    )
    .addOption(new Option('--minor', 'with --update: raise the minor version').conflicts('major'))
    .addOption(new Option('--major', 'with --update: raise the major version'))
    .option('--no-proof', 'with --update: skip checks and tests')
    .option('--range <a..b>', 'take what these commits changed, instead of the unrecorded edits')
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

/** Options of `claw matrix`, as commander gives them. */
export type MatrixOptions = {
  readonly release?: string;
  readonly triples: number;
  readonly jobs: number;
  readonly on?: string;
  readonly seed?: string;
  readonly proof: boolean;
};

/** Defines the arguments of `claw matrix`. */
export function matrixCommand(program: Command): Command {
  return program
    .command('matrix')
    .description('find out which skills work together: test them alone, in pairs, in triples')
    .argument('[skill...]', 'names under skills/ or folders; all of skills/ by default')
    .option('--release <ref or dir>', 'compose on this core')
    .option('--triples <n>', 'the most triples to try', atLeast(0), 10)
    .option('--jobs <n>', 'how many proofs run at the same time', atLeast(1), 2)
    .option('--on <where>', 'prove on other machines: far, with the skill far')
    .option(
      '--seed <text>',
      'with --on: the seed that an earlier run printed, to run the same proofs twice',
    )
    .option('--no-proof', 'only compose; skip packages, checks and tests');
}

export function matrixRequest(skills: readonly string[], options: MatrixOptions): MatrixRequest {
  const { release = null, triples, jobs, on = null, seed = null, proof } = options;
  return { skills, release, triples, jobs, on, seed, isProved: proof };
}

function atLeast(least: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It takes a whole number, ${least} or more.`);
  };
}

/** Defines `claw resolve` with its options. */
export function resolveCommand(program: Command): Command {
  return program
    .command('resolve')
    .description(
      'resolve a conflict; without an option, with the text you finished in .claw/pending, or by asking you',
    )
    .argument(
      '[path]',
      'the path as `claw conflicts` names it; without one, a terminal asks about all',
    )
    .addOption(
      new Option(
        '--take <side>',
        'the side of a layer, by its name; release: the core’s, mine: your edits and customisations',
      ).conflicts([...['ours', 'theirs', 'both', 'with', 'recording', 'agent', 'moved']]),
    )
    .addOption(
      new Option(
        '--ours',
        'the text that you have; refused if it is ambiguous: use --take',
      ).conflicts([...['theirs', 'both', 'with', 'recording', 'agent']]),
    )
    .addOption(
      new Option('--theirs', 'the text that is added').conflicts([
        'both',
        'with',
        'recording',
        'agent',
      ]),
    )
    .addOption(
      new Option(
        '--both <first>',
        'keep the lines of both sides; first those of ours, theirs or this layer',
      ).conflicts(['with', 'recording', 'agent']),
    )
    .addOption(
      new Option(
        '--choose <choices>',
        'the number of a choice that `claw conflicts` shows, one for each place: 1,3; or a rule',
      ).conflicts([
        ...['take', 'ours', 'theirs', 'both', 'with', 'recording', 'agent', 'all', 'moved'],
      ]),
    )
    .addOption(
      new Option('--with <file or value>', 'a finished text, or the value of a key').conflicts([
        'recording',
        'agent',
      ]),
    )
    .addOption(
      new Option('--recording <key>', 'use a recorded resolution that was offered').conflicts(
        'agent',
      ),
    )
    .addOption(
      new Option('--moved <path>', 'the place to which the release moved the file').conflicts([
        ...['ours', 'theirs', 'both', 'with', 'recording', 'agent', 'all', 'answers'],
      ]),
    )
    .option('--agent', 'let the model propose; without a path, for all that is open')
    .option('--all', 'resolve all that is open, with --take, --ours, --theirs, --both or --agent')
    .addOption(
      new Option('--answers <file>', 'a YAML or JSON file with the answer for each path').conflicts(
        [...['all', 'take', 'ours', 'theirs', 'both', 'choose', 'with', 'recording', 'agent']],
      ),
    );
}

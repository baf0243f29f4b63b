import { Option } from 'commander';
import * as engine from '../../verbs.ts';
import type { Invocation, Verbs } from '../edition.ts';
import type { ResolveOptions } from '../resolve/resolve.ts';
import { type DevArguments, devCommand, devVerb } from './dev-command.ts';
import { createContext, readCodeOf, runChanging, told } from './invocation.ts';
import {
  byOption,
  keepOption,
  type MatrixOptions,
  matrixCommand,
  matrixRequest,
  movedOption,
  type PackArguments,
  packCommand,
  packVerb,
  type ReleaseOptions,
  releaseOf,
  resolveCommand,
  retireOption,
  type UpdateArguments,
  updateOf,
} from './verb-options.ts';

/** The engine's verbs: parse, call, print. */
export const engineVerbs: Verbs = {
  init: (program, run) =>
    program
      .command('init')
      .description('record which release you have; the first apply does this for you')
      .option('--core-version <version>', 'the version of the core, if claw cannot find it')
      .option('--release <ref or dir>', 'the commit or folder that is the release')
      .action((options: ReleaseOptions) =>
        run('init', (invocation) => engine.init(createContext(invocation), releaseOf(options))),
      ),
  adopt: (program, run) =>
    program
      .command('adopt')
      .description(
        'set up a fork: count your edits from where you left upstream, record them, and show the next update',
      )
      .argument('<upstream>', 'a git url or folder, a remote, or a ref such as upstream/main')
      .addOption(byOption())
      .action((upstream: string, options: { by?: string }) =>
        run('adopt', (invocation) =>
          engine.adopt(createContext(invocation), upstream, options.by ?? 'one'),
        ),
      ),
  apply: (program, run) =>
    program
      .command('apply')
      .description(
        'add skills to the code: a name under skills/, a folder, a tarball, ' +
          'or a git url with #folder or #ref:folder',
      )
      .argument('<skill...>')
      .option('--core-version <version>', 'the version of the core; only for the first command')
      .option(
        '--release <ref or dir>',
        'the commit or folder that is the release; only for the first command',
      )
      .action((skills: string[], options: ReleaseOptions) =>
        runChanging(run, 'apply', (invocation) =>
          engine.apply(createContext(invocation), skills, releaseOf(options)),
        ),
      ),
  remove: (program, run) =>
    program
      .command('remove')
      .description('remove skills from the code')
      .argument('<skill...>')
      .action((skills: string[]) =>
        runChanging(run, 'remove', (invocation) =>
          engine.remove(createContext(invocation), skills),
        ),
      ),
  upgrade: (program, run) =>
    program
      .command('upgrade')
      .description('move applied skills to the present version of their sources')
      .argument('[skill...]')
      .action((skills: string[]) =>
        runChanging(run, 'upgrade', (invocation) =>
          engine.upgrade(createContext(invocation), skills),
        ),
      ),
  replay: (program, run) =>
    program
      .command('replay')
      .description('rebuild the tree that .claw/state.yaml describes, on a fresh clone')
      .action(() =>
        runChanging(run, 'replay', (invocation) => engine.replay(createContext(invocation))),
      ),
  update: (program, run) =>
    program
      .command('update')
      .description('move to another release; keep skills and edits')
      .argument(
        '[folder or ref]',
        'a folder, or a tag, branch or commit that git knows here; the newest release by default',
      )
      .option('--release <ref or dir>', 'the release that you have now, if init never named it')
      .addOption(retireOption())
      .addOption(keepOption())
      .addOption(movedOption())
      .action((wanted: string | undefined, options: UpdateArguments) =>
        runChanging(run, 'update', (invocation) =>
          engine.update(createContext(invocation), wanted ?? null, updateOf(options)),
        ),
      ),
  customize: (program, run) =>
    program
      .command('customize')
      .description('record your edits as a layer of their own')
      .argument('<what and why>')
      .action((description: string) =>
        run('customize', (invocation) => engine.customize(createContext(invocation), description)),
      ),
  rebase: (program, run) =>
    program
      .command('rebase')
      .description('merge all skills and edits into one customisation')
      .action(() => run('rebase', (invocation) => engine.rebase(createContext(invocation)))),
  pack: (program, run) =>
    packCommand(program).action((name: string, paths: string[], options: PackArguments) =>
      run('pack', async (invocation) => {
        const readCode = await readCodeOf(invocation);
        return await packVerb(createContext(invocation), name, paths, { ...options, readCode });
      }),
    ),
  dev: (program, run) =>
    devCommand(program).action((name: string, paths: string[], options: DevArguments) =>
      run('dev', async (invocation) => {
        const isJson = invocation.options.json === true;
        const readCode = await readCodeOf(invocation);
        return await devVerb(createContext(invocation), name, paths, {
          ...options,
          isJson,
          readCode,
        });
      }),
    ),
  plan: (program, run) =>
    program
      .command('plan')
      .description('print what a verb would do, and change nothing')
      .argument(
        '<verb>',
        'init, adopt, apply, remove, upgrade, replay, update, customize, rebase, undo or pack',
      )
      .argument('[args...]')
      .option('--core-version <version>', 'as for init and apply')
      .option('--release <ref or dir>', 'as for init, apply and update')
      .addOption(retireOption())
      .addOption(keepOption())
      .addOption(movedOption())
      .addOption(byOption())
      .option('--update', 'as for pack: put edits back into an existing package')
      .option('--diff', 'also show the changes of the files as patches')
      .action((verb: string, args: string[], options: PlanArguments) =>
        run('plan', (invocation) =>
          engine.plan(createContext(invocation), {
            verb,
            args,
            release: releaseOf(options),
            update: updateOf(options),
            withPatches: options.diff === true,
            options: {
              ...(options.update === true ? { renew: 'yes' } : {}),
              ...(options.by === undefined ? {} : { by: options.by }),
            },
          }),
        ),
      ),
  status: (program, run) =>
    program
      .command('status')
      .description('show what is installed, which command waits, and what you have changed')
      .action(() =>
        run('status', async (invocation) => {
          const status = await engine.status(createContext(invocation));
          return (await invocation.additions?.status(status, invocation.root)) ?? status;
        }),
      ),
  list: (program, run) =>
    program
      .command('list')
      .description('list the applied skills')
      .option('--available', 'list the skills in skills/ instead')
      .action((options: { available?: boolean }) =>
        run('list', (invocation) =>
          engine.list(createContext(invocation), { available: options.available === true }),
        ),
      ),
  show: (program, run) =>
    program
      .command('show')
      .description('show what a skill is, what it brings, and whether it is applied')
      .argument('<skill>', 'a name, or a source as apply takes it')
      .action((skill: string) =>
        run('show', (invocation) => engine.show(createContext(invocation), skill)),
      ),
  log: (program, run) =>
    program
      .command('log')
      .description('list the commands that undo can take back, newest first')
      .action(() => run('log', (invocation) => engine.log(createContext(invocation)))),
  completion: (program, run) =>
    program
      .command('completion')
      .description('print the completion for a shell: bash, zsh or fish')
      .argument('<shell>', 'bash: source <(claw completion bash); zsh and fish in the same way')
      .action((shell: string) =>
        run('completion', async (invocation) => {
          const { complete } = await import('../completion.ts');
          return await complete(program, shell, invocation);
        }),
      ),
  verify: (program, run) =>
    program
      .command('verify')
      .description('compare the files on disk with what .claw/ records')
      .action(() => run('verify', (invocation) => engine.verify(createContext(invocation)))),
  matrix: (program, run) =>
    matrixCommand(program).action((skills: string[], options: MatrixOptions) =>
      run('matrix', (invocation) =>
        engine.matrix(createContext(invocation), matrixRequest(skills, options)),
      ),
    ),
  why: (program, run) =>
    program
      .command('why')
      .description(
        'show who each line comes from (blame for skills): file, file:line or file:from-to',
      )
      .argument('<file[:line]>')
      .action((place: string) =>
        run('why', (invocation) => engine.why(createContext(invocation), place)),
      ),
  diff: (program, run) =>
    program
      .command('diff')
      .description('show what a skill changes here, as a patch; without a name, what you changed')
      .argument('[skill]')
      .action((name?: string) =>
        run('diff', (invocation) => engine.diff(createContext(invocation), name ?? null)),
      ),
  doctor: (program, run) =>
    program
      .command('doctor')
      .description('check everything that claw relies on, and say what to do')
      .option('--offline', 'ask nothing outside this machine, not even the model')
      .action((options: { readonly offline?: boolean }) =>
        run('doctor', async (invocation) => {
          const context = createContext(invocation);
          const { additions } = invocation;
          if (additions !== null) return await additions.doctor(context, options.offline === true);
          return await engine.doctor(context);
        }),
      ),
  conflicts: (program, run) =>
    program
      .command('conflicts')
      .description('show the open conflicts')
      .option('--answers', 'print a file to fill in, for claw resolve --answers')
      .action((options: { answers?: boolean }) =>
        run('conflicts', (invocation) => engine.conflicts(createContext(invocation), options)),
      ),
  resolve: (program, run) =>
    resolveCommand(program).action((path: string | undefined, options: ResolveOptions) =>
      run('resolve', async (invocation) => {
        const { resolveVerb } = await import('../resolve/resolve.ts');
        return await resolveVerb(invocation, createContext(invocation), path ?? null, options);
      }),
    ),
  continue: (program, run) =>
    program
      .command('continue')
      .description('finish the waiting command with your decisions')
      .option('--prove', 'run checks and tests on the result, and change nothing yet')
      .action((options: { prove?: boolean }) =>
        runChanging(run, 'continue', (invocation) =>
          engine.continueOperation(createContext(invocation), { isTrial: options.prove === true }),
        ),
      ),
  resolutions: (program, run) =>
    program
      .command('resolutions')
      .description('list the recorded resolutions; `resolutions forget <key>` forgets one')
      .argument('[forget]')
      .argument('[key]')
      .action((action: string | undefined, key: string | undefined) =>
        run('resolutions', async (invocation) => {
          const context = createContext(invocation);
          if (action === undefined) return await engine.resolutions(context);
          if (action === 'forget' && key !== undefined) {
            return await engine.forgetResolution(context, key);
          }
          throw new engine.ClawError(
            'USAGE',
            'Use claw resolutions, or claw resolutions forget KEY.',
          );
        }),
      ),
  undo: (program, run) =>
    program
      .command('undo')
      .description('take back the last command')
      .action(() =>
        run('undo', async (invocation) => {
          const context = createContext(invocation);
          const own = await undoOwn(invocation, context);
          return own ?? (await told(invocation, await engine.undo(context)));
        }),
      ),
  abort: (program, run) =>
    program
      .command('abort')
      .description('discard the waiting command and its decisions')
      .action(() => run('abort', (invocation) => engine.abort(createContext(invocation)))),
  recover: (program, run) =>
    program
      .command('recover')
      .description('finish a killed command, or roll it back')
      .addOption(
        new Option(
          '--keep-mine',
          'keep your edits in files that the killed command changes too',
        ).conflicts(['rollForward', 'rollBack', 'adopt']),
      )
      .addOption(
        new Option(
          '--roll-forward',
          'finish the command over your edits, which are saved beside the files',
        ).conflicts(['rollBack', 'adopt']),
      )
      .addOption(new Option('--roll-back', 'roll the command back').conflicts('adopt'))
      .option('--adopt', 'trust what claw wrote before you moved, copied or restored this folder')
      .action((options: Record<string, boolean>) =>
        runChanging(run, 'recover', (invocation) =>
          engine.recover(createContext(invocation), decisionOf(options)),
        ),
      ),
};

/** Takes back a newer change of the program beside the engine; whoever has seen the plan of an undo means that one. */
async function undoOwn(invocation: Invocation, context: engine.EngineContext) {
  const { additions, options } = invocation;
  if (additions === null || options.expect !== undefined) return null;
  const [newest] = (await engine.log(context)).data ?? [];
  return await additions.undo(invocation, newest === undefined ? null : Date.parse(newest.time));
}

type PlanArguments = UpdateArguments & {
  readonly update?: boolean;
  readonly by?: string;
  readonly diff?: boolean;
};

function decisionOf(options: Readonly<Record<string, boolean>>) {
  if (options['keepMine']) return 'keep-mine';
  if (options['rollForward']) return 'roll-forward';
  if (options['adopt']) return 'adopt';
  return options['rollBack'] ? 'roll-back' : null;
}

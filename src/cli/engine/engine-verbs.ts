import { Option } from 'commander';
import type { EngineContext, PlanSummary, VerbResult } from '../../engine/commands.ts';
import * as engine from '../../engine/commands.ts';
import type { ResolveOptions } from '../resolve/resolve.ts';
import type { DefineVerb, Invocation, RunVerb } from '../verb.ts';
import { type DevArguments, devCommand, devVerb } from './dev.ts';
import { drawMatrix, type MatrixOptions, matrixCommand, matrixRequest } from './matrix-options.ts';
import { type PackArguments, packCommand, packVerb } from './pack-options.ts';

/** The engine's verbs: parse, call, print. */
export const engineVerbs: readonly DefineVerb[] = [
  (program, run) =>
    program
      .command('init')
      .description('take the core of this codebase; the first apply does it by itself')
      .option('--core-version <version>', 'the version of the core, where nothing tells it')
      .option('--release <ref or dir>', 'the commit or folder that is the release')
      .action((options: ReleaseOptions) =>
        run('init', (invocation) => engine.init(createContext(invocation), releaseOf(options))),
      ),
  (program, run) =>
    program
      .command('apply')
      .description(
        'weave skills into the code: a name under skills/, a folder, a tarball, ' +
          'or a git url with #folder or #ref:folder',
      )
      .argument('<skill...>')
      .option('--core-version <version>', 'as for init, where this is the first command')
      .option('--release <ref or dir>', 'as for init, where this is the first command')
      .action((skills: string[], options: ReleaseOptions) =>
        runChanging(run, 'apply', (invocation) =>
          engine.apply(createContext(invocation), skills, releaseOf(options)),
        ),
      ),
  (program, run) =>
    program
      .command('remove')
      .description('take skills out again')
      .argument('<skill...>')
      .action((skills: string[]) =>
        runChanging(run, 'remove', (invocation) =>
          engine.remove(createContext(invocation), skills),
        ),
      ),
  (program, run) =>
    program
      .command('upgrade')
      .description('replace applied skills by what their sources hold now')
      .argument('[skill...]')
      .action((skills: string[]) =>
        runChanging(run, 'upgrade', (invocation) =>
          engine.upgrade(createContext(invocation), skills),
        ),
      ),
  (program, run) =>
    program
      .command('replay')
      .description('compose what .claw/state.yaml lists on the core of this clone')
      .action(() =>
        runChanging(run, 'replay', (invocation) => engine.replay(createContext(invocation))),
      ),
  (program, run) =>
    program
      .command('update')
      .description('bring another release of the core under the same skills and edits')
      .argument('<folder or ref>', 'a folder, or a tag, branch or commit that git knows here')
      .option('--release <ref or dir>', 'the old release, where no init ever named it')
      .addOption(retireOption())
      .addOption(keepOption())
      .addOption(movedOption())
      .action((wanted: string, options: UpdateArguments) =>
        runChanging(run, 'update', (invocation) =>
          engine.update(createContext(invocation), wanted, updateOf(options)),
        ),
      ),
  (program, run) =>
    program
      .command('customize')
      .description('record your edits as a layer of their own')
      .argument('<what and why>')
      .action((description: string) =>
        run('customize', (invocation) => engine.customize(createContext(invocation), description)),
      ),
  (program, run) =>
    program
      .command('rebase')
      .description('make one customisation of all skills and edits')
      .action(() => run('rebase', (invocation) => engine.rebase(createContext(invocation)))),
  (program, run) =>
    packCommand(program).action((name: string, paths: string[], options: PackArguments) =>
      run('pack', (invocation) => packVerb(createContext(invocation), name, paths, options)),
    ),
  (program, run) =>
    devCommand(program).action((name: string, paths: string[], options: DevArguments) =>
      run('dev', async (invocation) => {
        const isJson = invocation.options.json === true;
        return await devVerb(createContext(invocation), name, paths, { ...options, isJson });
      }),
    ),
  (program, run) =>
    program
      .command('plan')
      .description('print what a verb would do, and touch nothing')
      .argument(
        '<verb>',
        'init, apply, remove, upgrade, replay, update, customize, rebase, undo or pack',
      )
      .argument('[args...]')
      .option('--core-version <version>', 'as for init and apply')
      .option('--release <ref or dir>', 'as for init, apply and update')
      .addOption(retireOption())
      .addOption(keepOption())
      .addOption(movedOption())
      .option('--update', 'as for pack: of a package that is there')
      .action((verb: string, args: string[], options: UpdateArguments & { update?: boolean }) =>
        run('plan', (invocation) =>
          engine.plan(createContext(invocation), {
            verb,
            args,
            release: releaseOf(options),
            update: updateOf(options),
            options: { ...(options.update === true ? { renew: 'yes' } : {}) },
          }),
        ),
      ),
  (program, run) =>
    program
      .command('status')
      .description('what is installed, what waits, what you have changed')
      .action(() =>
        run('status', async (invocation) => {
          const { withAssistant } = await import('../assistant/budgets.ts');
          return withAssistant(await engine.status(createContext(invocation)), invocation.root);
        }),
      ),
  (program, run) =>
    program
      .command('list')
      .description('the applied skills')
      .option('--available', 'what skills/ offers')
      .action((options: { available?: boolean }) =>
        run('list', (invocation) =>
          engine.list(createContext(invocation), { available: options.available === true }),
        ),
      ),
  (program, run) =>
    program
      .command('verify')
      .description('compare disk, state and composition')
      .action(() => run('verify', (invocation) => engine.verify(createContext(invocation)))),
  (program, run) =>
    matrixCommand(program).action((skills: string[], options: MatrixOptions) =>
      run('matrix', async (invocation) => {
        const result = await engine.matrix(
          createContext(invocation),
          matrixRequest(skills, options),
        );
        return await drawMatrix(result, invocation.cwd, options.svg);
      }),
    ),
  (program, run) =>
    program
      .command('why')
      .description('whose the lines of a file are: file, file:line or file:from-to')
      .argument('<file[:line]>')
      .action((place: string) =>
        run('why', (invocation) => engine.why(createContext(invocation), place)),
      ),
  (program, run) =>
    program
      .command('diff')
      .description('what a skill changes here, as a patch; without a name, what you changed')
      .argument('[skill]')
      .action((name?: string) =>
        run('diff', (invocation) => engine.diff(createContext(invocation), name ?? null)),
      ),
  (program, run) =>
    program
      .command('doctor')
      .description(
        'look at everything that claw and the assistant rely on, and say what can be done',
      )
      .option('--offline', 'ask nothing outside this machine: the model is left out')
      .action((options: { readonly offline?: boolean }) =>
        run('doctor', async (invocation) => {
          const { lookAtAll } = await import('../assistant/doctor.ts');
          return await lookAtAll(createContext(invocation), options.offline === true);
        }),
      ),
  (program, run) =>
    program
      .command('conflicts')
      .description('what the operation that waits needs to know from you')
      .option('--answers', 'print a file to fill in, for claw resolve --answers')
      .action((options: { answers?: boolean }) =>
        run('conflicts', (invocation) => engine.conflicts(createContext(invocation), options)),
      ),
  (program, run) =>
    program
      .command('resolve')
      .description(
        'resolve a conflict; without an option you are asked, or it is the text you finished in .claw/pending',
      )
      .argument('[path]', 'as `claw conflicts` names it; on a terminal, all of them without one')
      .addOption(
        new Option('--ours', 'what is there').conflicts([
          ...['theirs', 'both', 'with', 'recording', 'agent'],
        ]),
      )
      .addOption(
        new Option('--theirs', 'what comes').conflicts(['both', 'with', 'recording', 'agent']),
      )
      .addOption(
        new Option('--both <first>', 'the lines of both sides, and whose come first')
          .choices(['ours', 'theirs'])
          .conflicts(['with', 'recording', 'agent']),
      )
      .addOption(
        new Option('--with <file or value>', 'a finished text, or the value of a key').conflicts([
          'recording',
          'agent',
        ]),
      )
      .addOption(
        new Option('--recording <key>', 'a recorded resolution that was offered').conflicts(
          'agent',
        ),
      )
      .addOption(
        new Option('--moved <path>', 'where the release moved the file to').conflicts([
          ...['ours', 'theirs', 'both', 'with', 'recording', 'agent', 'all', 'answers'],
        ]),
      )
      .option('--agent', 'let the model propose; without a path, for all that is open')
      .option('--all', 'all that is open, by --ours, --theirs, --both or --agent')
      .addOption(
        new Option('--answers <file>', 'YAML or JSON: for each path how it is resolved').conflicts([
          ...['all', 'ours', 'theirs', 'both', 'with', 'recording', 'agent'],
        ]),
      )
      .action((path: string | undefined, options: ResolveOptions) =>
        run('resolve', async (invocation) => {
          const { resolveVerb } = await import('../resolve/resolve.ts');
          return await resolveVerb(invocation, createContext(invocation), path ?? null, options);
        }),
      ),
  (program, run) =>
    program
      .command('continue')
      .description('go on with the operation that waits, as you decided')
      .option('--prove', 'run checks and tests on it, and change nothing yet')
      .action((options: { prove?: boolean }) =>
        runChanging(run, 'continue', (invocation) =>
          engine.continueOperation(createContext(invocation), { isTrial: options.prove === true }),
        ),
      ),
  (program, run) =>
    program
      .command('resolutions')
      .description('the recorded resolutions; `resolutions forget <key>` forgets one')
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
            'It is: claw resolutions, or claw resolutions forget KEY.',
          );
        }),
      ),
  (program, run) =>
    program
      .command('undo')
      .description('take back the last transaction')
      .action(() =>
        runChanging(run, 'undo', (invocation) => engine.undo(createContext(invocation))),
      ),
  (program, run) =>
    program
      .command('abort')
      .description('forget the operation that waits for decisions')
      .action(() => run('abort', (invocation) => engine.abort(createContext(invocation)))),
  (program, run) =>
    program
      .command('recover')
      .description('finish what a killed command left')
      .addOption(
        new Option('--keep-mine', 'keep your edits where it met them').conflicts([
          'rollForward',
          'rollBack',
        ]),
      )
      .addOption(
        new Option('--roll-forward', 'finish it over your edits, which are kept beside').conflicts(
          'rollBack',
        ),
      )
      .option('--roll-back', 'take it back')
      .action((options: Record<string, boolean>) =>
        runChanging(run, 'recover', (invocation) =>
          engine.recover(createContext(invocation), decisionOf(options)),
        ),
      ),
];

/** Runs a verb that changes the tree, and says it where an assistant still runs the code from before. */
async function runChanging(
  run: RunVerb,
  verb: string,
  work: (invocation: Invocation) => Promise<VerbResult>,
): Promise<void> {
  await run(verb, async (invocation) => {
    const result = await work(invocation);
    // Of programs, the host restarts by itself; others can ask.
    if (invocation.options.json === true || result.changes.length === 0) return result;
    const { withRestartHint } = await import('../assistant/restart-hint.ts');
    return await withRestartHint(result, invocation.root);
  });
}

type ReleaseOptions = { readonly coreVersion?: string; readonly release?: string };

function releaseOf({ release, coreVersion }: ReleaseOptions) {
  return { release: release ?? null, coreVersion: coreVersion ?? null };
}

type UpdateArguments = ReleaseOptions & {
  readonly retireContained?: boolean;
  readonly keep?: readonly string[];
  readonly moved?: readonly string[];
};

function retireOption(): Option {
  const text = 'of an update: take out every skill that the release contains, without asking';
  return new Option('--retire-contained', text);
}

function keepOption(): Option {
  const text =
    'of an update: a skill that stays, although the release contains it; may be repeated';
  return repeatable(new Option('--keep <skill>', text));
}

function movedOption(): Option {
  const text =
    'of an update: a file or folder that the release moved without saying so; may be repeated';
  return repeatable(new Option('--moved <old=new>', text));
}

function repeatable(option: Option): Option {
  return option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

function updateOf({
  release,
  retireContained,
  keep,
  moved,
}: UpdateArguments): engine.UpdateOptions {
  return {
    release: release ?? null,
    retireContained: retireContained === true,
    retire: [],
    keep: keep ?? [],
    moved: moved ?? [],
  };
}

function decisionOf(options: Readonly<Record<string, boolean>>) {
  if (options['keepMine']) return 'keep-mine';
  if (options['rollForward']) return 'roll-forward';
  return options['rollBack'] ? 'roll-back' : null;
}

function createContext({ root, cwd, options, ui, signal }: Invocation): EngineContext {
  const isAsked = !options.yes && !options.json && ui.canAsk;
  return {
    root,
    cwd,
    now: () => new Date(),
    environment: process.env,
    onProgress: (event) => ui.progress(event),
    allow: options.allow,
    skipsInstall: options.install === false,
    expect: options.expect,
    proof: options.proof,
    signal,
    askModel: async (prompt) => {
      const { askModel } = await import('../setup/model.ts');
      return await askModel(prompt, { root, signal });
    },
    ask: isAsked ? (question) => ui.ask(question) : undefined,
    confirm: isAsked ? async (summary) => await confirm(ui, summary) : null,
  };
}

async function confirm(ui: Invocation['ui'], summary: PlanSummary): Promise<boolean> {
  const { verb, planned, losses, packages } = summary;
  if (losses.length > 0) return await ui.ask(`${verb} gives that up. Go on?`);
  if (verb === 'update' && planned.changes.length > 0) {
    const { renderText } = await import('../render/render.ts');
    const { out, err } = renderText({ ...planned, verb: 'plan' });
    for (const text of `${out}${err}`.trimEnd().split('\n')) ui.progress({ kind: 'note', text });
    return await ui.ask('Nothing is changed yet. Go on with this update?');
  }
  if (packages.length === 0) return true;
  return await ui.ask(`${verb} brings packages: ${packages.join(', ')}. Go on?`);
}

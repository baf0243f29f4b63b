import type { Command } from 'commander';
import type { Verbs } from '../edition.ts';
import { ended } from '../result.ts';
import type { DriverOptions, DriverStatus } from './driver.ts';

type DriverArguments = {
  readonly global?: boolean;
  readonly shared?: boolean;
  readonly path: string[];
};

/** The verbs that merge files of any repository. Used for the help, and if options of claw stand before them. */
export const mergeVerbs: Verbs = {
  'merge-file': (program) =>
    program
      .command('merge-file')
      .description('merge three files, with the arguments and exit codes of git merge-file')
      .argument('[args...]', 'as git merge-file takes them; -h lists them')
      .helpOption(false)
      .allowUnknownOption()
      .action(async (args: string[]) => {
        const { mergeFileCommand } = await import('@patchclaw/merge/git');
        process.exitCode = mergeFileCommand(args);
      }),
  'merge-driver': (program, run) =>
    driverOptions(program.command('merge-driver'))
      .description('let git merge files of a repository by claw')
      .argument('<what>', 'install, uninstall or status')
      .action((what: string, given: DriverArguments) =>
        run('merge-driver', async ({ cwd }) => {
          const options: DriverOptions = {
            cwd,
            isGlobal: given.global === true,
            isShared: given.shared === true,
            patterns: given.path,
          };
          return await carryOut(what, options);
        }),
      ),
};

function driverOptions(command: Command): Command {
  return command
    .option('--global', 'in all of your repositories')
    .option(
      '--path <pattern>',
      'only for these files, as in .gitattributes; may be repeated',
      (pattern: string, before: string[]) => [...before, pattern],
      [],
    )
    .option('--shared', 'write the --path into .gitattributes, for you to commit');
}

async function carryOut(what: string, options: DriverOptions) {
  const { driverStatus, installDriver, uninstallDriver } = await import('./driver.ts');
  if (what === 'install') {
    installDriver(options);
    const status = driverStatus(options);
    return { ...ended('merge-driver', status), lines: statusLines(status) };
  }
  if (what === 'uninstall') {
    const isFound = uninstallDriver(options);
    const lines = [isFound ? 'Taken out; git merges as before.' : 'It is not installed.'];
    const outcome = isFound ? 'done' : 'nothing';
    return { ...ended('merge-driver', driverStatus(options), outcome), lines };
  }
  if (what === 'status') {
    const status = driverStatus(options);
    return { ...ended('merge-driver', status), lines: statusLines(status) };
  }
  const { ClawError } = await import('../../verbs.ts');
  throw new ClawError('USAGE', 'Use claw merge-driver install, uninstall or status.');
}

function statusLines({ isInstalled, isDefault, patterns, fault }: DriverStatus): readonly string[] {
  if (!isInstalled) return ['Not installed: `claw merge-driver install` does it.'];
  return [
    ...(isDefault ? ['git merges by claw: every file of which no attribute says how'] : []),
    ...patterns.map((one) => `git merges by claw: ${one.patterns.join(', ')} (${one.file})`),
    ...(isDefault || patterns.length > 0 ? [] : ['Installed, and no file is merged by it.']),
    fault === null ? 'It works: a small file was merged.' : `It does not work: ${fault}`,
  ];
}

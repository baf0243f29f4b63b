/**
 * Runs the verbs that have the arguments and exit codes of git's programs, apart from the other verbs' command line.
 * Git calls one for each file, so nothing is loaded that they do not need.
 *
 * @returns null where the arguments name another verb
 */
export async function runRaw(args: readonly string[]): Promise<number | null> {
  if (args[0] === 'merge-file') {
    const { mergeFileCommand } = await import('./merge-file-command.ts');
    return mergeFileCommand(args.slice(1));
  }
  if (args[0] === 'merge-driver' && args[1] === 'run') {
    const { runDriver } = await import('./run-driver.ts');
    return runDriver(args.slice(2));
  }
  return null;
}

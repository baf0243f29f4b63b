// Git's face of the merge: `git merge-file` by arguments and exit codes, and the driver that git calls for each file.
export { git, replaceFile } from './git-files.ts';
export { mergeFileCommand } from './merge-file-command.ts';
export { CONFLICT } from './run-driver.ts';

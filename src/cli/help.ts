import type { Command } from 'commander';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Skills and the core:': ['init', 'apply', 'remove', 'upgrade', 'update', 'replay'],
  'Your own changes:': ['customize', 'rebase', 'pack'],
  'Look, and change nothing:': [
    ...['plan', 'status', 'list', 'why', 'diff', 'verify', 'matrix', 'doctor'],
  ],
  'Conflicts:': ['conflicts', 'resolve', 'continue', 'abort', 'resolutions'],
  'Take back:': ['undo', 'recover'],
};

const EXIT_CODES = `
Exit codes: 0 done · 1 failed or refused · 2 wrong use · 3 blocked by conflicts ·
4 checks, tests or npm failed · 5 locked · 6 recovery needs a decision.
Whatever is not 0 or 6 left the files as they were.`;

/** Puts the verbs into groups in `claw --help`, once all are defined. */
export function groupVerbs(program: Command): void {
  for (const [heading, verbs] of Object.entries(GROUPS)) {
    for (const command of program.commands) {
      if (verbs.includes(command.name())) command.helpGroup(heading);
    }
  }
  program.addHelpText('after', EXIT_CODES);
  for (const command of program.commands) {
    if (command.helpGroup() === '') command.helpGroup('The assistant:');
  }
}

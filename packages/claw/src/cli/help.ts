import { type Command, Help } from 'commander';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Skills and the core:': ['init', 'adopt', 'apply', 'remove', 'upgrade', 'update', 'replay'],
  'Your own changes:': ['customize', 'rebase', 'pack', 'dev'],
  'Look, and change nothing:': [
    ...['plan', 'status', 'list', 'show', 'log', 'why', 'diff', 'verify', 'matrix', 'doctor'],
  ],
  'Conflicts:': ['conflicts', 'resolve', 'continue', 'abort', 'resolutions'],
  'Take back:': ['undo', 'recover'],
  'For git:': ['merge-file', 'merge-driver'],
  'For your shell:': ['completion'],
};

const EXIT_CODES = `
Exit codes: 0 done · 1 failed or refused · 2 wrong use · 3 blocked by conflicts ·
4 checks, tests or npm failed · 5 locked · 6 recovery needs a decision.
Whatever is not 0 or 6 left the files as they were.
`;

/** Format of help: options that all verbs take are listed too, and exit codes after the list of verbs. */
export const HELP = {
  showGlobalOptions: true,
  formatHelp: (command: Command, help: Help): string => {
    const text = Help.prototype.formatHelp.call(help, command, help);
    return command.parent === null ? text + EXIT_CODES : text;
  },
};

/** Puts the verbs into groups in `claw --help`, once all are defined. */
export function groupVerbs(program: Command): void {
  const entries = Object.entries(GROUPS);
  const headings = new Map(
    entries.flatMap(([heading, verbs]) => verbs.map((verb) => [verb, heading] as const)),
  );
  for (const command of program.commands) {
    command.helpGroup(headings.get(command.name()) ?? 'The assistant:');
  }
}

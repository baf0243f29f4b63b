import { type Command, Option } from 'commander';

/** Defines `claw resolve` with its options. */
export function resolveCommand(program: Command): Command {
  return program
    .command('resolve')
    .description(
      'resolve a conflict; without an option, with the text you finished in .claw/pending, or by asking you',
    )
    .argument('[path]', 'as `claw conflicts` names it; on a terminal, all of them without one')
    .addOption(
      new Option(
        '--take <side>',
        'the side of a layer, by its name; release: the core’s, mine: your edits and customisations',
      ).conflicts([...['ours', 'theirs', 'both', 'with', 'recording', 'agent', 'moved']]),
    )
    .addOption(
      new Option(
        '--ours',
        'what you have; refused where it could be mistaken: use --take',
      ).conflicts([...['theirs', 'both', 'with', 'recording', 'agent']]),
    )
    .addOption(
      new Option('--theirs', 'what comes').conflicts(['both', 'with', 'recording', 'agent']),
    )
    .addOption(
      new Option(
        '--both <first>',
        'the lines of both sides; ours, theirs or a layer says whose come first',
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
      new Option('--recording <key>', 'a recorded resolution that was offered').conflicts('agent'),
    )
    .addOption(
      new Option('--moved <path>', 'where the release moved the file to').conflicts([
        ...['ours', 'theirs', 'both', 'with', 'recording', 'agent', 'all', 'answers'],
      ]),
    )
    .option('--agent', 'let the model propose; without a path, for all that is open')
    .option('--all', 'all that is open, by --take, --ours, --theirs, --both or --agent')
    .addOption(
      new Option('--answers <file>', 'YAML or JSON: for each path how it is resolved').conflicts([
        ...['all', 'take', 'ours', 'theirs', 'both', 'choose', 'with', 'recording', 'agent'],
      ]),
    );
}

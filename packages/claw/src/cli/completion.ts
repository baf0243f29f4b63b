import type { Command } from 'commander';
import { ClawError, list } from '../verbs.ts';
import type { Invocation } from './edition.ts';
import { createContext } from './engine/invocation.ts';
import { ended } from './result.ts';

/** Verbs whose arguments are names of skills. */
const TAKE_SKILLS = ['apply', 'remove', 'upgrade', 'show', 'diff', 'pack', 'dev', 'matrix'];
const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** A verb as a shell completes it. */
type Word = { readonly name: string; readonly help: string; readonly options: readonly string[] };

/**
 * Returns the completion of the command line for a shell; for `skills` the names, which the shell's script asks for.
 *
 * @throws ClawError USAGE for a shell that is not known
 */
export async function complete(program: Command, shell: string, invocation: Invocation) {
  if (shell === 'skills') {
    const listed = await list(createContext(invocation), { available: true });
    const skills = (listed.data ?? []).map(({ name }) => name);
    return { ...ended('completion', { skills }), lines: skills };
  }
  const known = SHELLS.find((one) => one === shell);
  if (known === undefined) {
    throw new ClawError('USAGE', `claw completes ${SHELLS.join(', ')}, not ${shell}.`);
  }
  const script = scriptOf(known, wordsOf(program), longOptions(program));
  return { ...ended('completion', { shell: known, script }), lines: [script.trimEnd()] };
}

function wordsOf(program: Command): readonly Word[] {
  return program.commands.map((command) => ({
    name: command.name(),
    help: command.description().split('\n')[0] ?? '',
    options: longOptions(command),
  }));
}

function longOptions(command: Command): readonly string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []));
}

function scriptOf(
  shell: (typeof SHELLS)[number],
  words: readonly Word[],
  globals: readonly string[],
): string {
  if (shell === 'fish') return fishScript(words, globals);
  const bash = bashScript(words, globals);
  return shell === 'bash' ? bash : `${LOAD_ZSH}\n${bash}`;
}

/** A zsh without a set-up of its own has no completion yet, and what is below uses it. */
const LOAD_ZSH = `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit`;

function bashScript(words: readonly Word[], globals: readonly string[]): string {
  const names = words.map(({ name }) => name).join(' ');
  const cases = words
    .filter(({ options }) => options.length > 0)
    .map(({ name, options }) => `    ${name}) options="${options.join(' ')}" ;;`);
  return `# claw completion: the verbs, their options, and the names of skills
_claw() {
  local word="\${COMP_WORDS[COMP_CWORD]}" verb="" options="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      plan | -*) ;;
      *) verb="\${COMP_WORDS[at]}"; break ;;
    esac
  done
  case "$verb" in
${cases.join('\n')}
  esac
  COMPREPLY=()
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options ${globals.join(' ')}" -- "$word"))
  elif [[ -z "$verb" ]]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
  else
    case "$verb" in
      ${TAKE_SKILLS.join(' | ')})
        COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" completion skills 2> /dev/null)" -- "$word")) ;;
    esac
  fi
}
complete -o default -F _claw claw
`;
}

function fishScript(words: readonly Word[], globals: readonly string[]): string {
  // Another verb follows `plan`.
  const last = words.flatMap(({ name }) => (name === 'plan' ? [] : [name])).join(' ');
  return [
    '# claw completion: the verbs, their options, and the names of skills',
    ...words.map(
      ({ name, help }) =>
        `complete -c claw -n "not __fish_seen_subcommand_from ${name === 'plan' ? `${last} plan` : last}" -f -a ${name} -d '${help.replace(/[\\']/g, '\\$&')}'`,
    ),
    ...words.flatMap(({ name, options }) =>
      options.map(
        (option) =>
          `complete -c claw -n "__fish_seen_subcommand_from ${name}" -l ${option.slice(2)}`,
      ),
    ),
    ...globals.map((option) => `complete -c claw -l ${option.slice(2)}`),
    `complete -c claw -n "__fish_seen_subcommand_from ${TAKE_SKILLS.join(' ')}" -f -a "(claw completion skills 2> /dev/null)"`,
    '',
  ].join('\n');
}

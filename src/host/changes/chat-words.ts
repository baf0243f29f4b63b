/** Options of `claw` that can be said in a chat, there without their dashes. */
const SAID_IN_CHAT = /`?--(allow|keep) ([^\s`,;]*[^\s`,;.])`?/g;

/**
 * The other options of `claw`, which belong to a shell; chat-words.test.ts compares them with the command.
 * Options of other programs, as in `tsc --noEmit`, tell what runs and stay.
 */
const SHELL_OPTION =
  /(?<![\w-])--(?:adopt|again|agent|all|allow|answers|as-new|available|base-url|both|by|choose|core-version|cwd|description|diff|drill|dry-run|expect|follow|from|global|hand-over|identity|if-needed|jobs|json|keep|keep-mine|level|lines|major|minor|model|moved|name|no-install|no-media|no-proof|no-restart|no-secrets|offline|on|once|only|ours|passphrase|patch|path|phone|print|progress|proof|prove|provider|qr-file|quiet|range|reason|recording|relay|release|retire-contained|roll-back|roll-forward|seed|service|shared|since|svg|system|take|take-over|theirs|to|triples|update|with|yes)(?![\w-])/;

/**
 * Rewords for a chat what `claw` says for a shell: commands that work here lose their dashes, and advice that only
 * works in a shell is left out.
 *
 * @param text one or several sentences; what follows its first line is another program's and stays
 */
export function inChatWords(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  const said = first.replace(SAID_IN_CHAT, '`$1 $2`');
  const clauses = clausesOf(said);
  const kept = clauses.filter((clause) => !SHELL_OPTION.test(clause));
  const isWhole = kept.length === clauses.length;
  const line = isWhole ? said : kept.join(' ').replace(/[;:,]$/, said.endsWith('.') ? '.' : '');
  return [line === '' ? IN_A_SHELL : line, ...rest].join('\n');
}

/** Said where nothing else is left. */
const IN_A_SHELL = 'Decide in a shell how to go on: `npx claw status` tells more.';

function clausesOf(text: string): readonly string[] {
  return text.split(/(?<=[.;:]) (?=\S)/);
}

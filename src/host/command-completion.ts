import type { Command, CompletionContext } from './contracts/command.ts';
import { worksIn } from './contracts/match-command.ts';

/** More than a person reads in a list. */
const MOST = 100;
const OWNERS_CHAT = { isMain: true };

/** Returns the whole commands that the text typed in the owner's chat can become, sorted, for Tab. */
export function completionsOf(context: CompletionContext, typed: string): readonly string[] {
  if (!/^\/[^\n]*$/.test(typed)) return [];
  const begun = typed.toLowerCase();
  const isCommandTyped = /\s/.test(typed);
  const words = context.commands
    .filter((command) => worksIn(command, OWNERS_CHAT))
    .flatMap((command) => {
      const head = headOf(command);
      if (isCommandTyped && !begun.startsWith(head.trimEnd())) return [];
      return linesOf(command, head, { context, typed: typed.slice(head.length) });
    });
  // A line breaks where a name does: it could not be typed.
  const fitting = words.filter(
    (line) =>
      line.toLowerCase().startsWith(begun) &&
      !(isCommandTyped && line === typed) &&
      !/[\r\n]/.test(line),
  );
  const shown = isCommandTyped ? fitting : fitting.map(wordOf);
  return [...new Set(shown)].toSorted().slice(0, MOST);
}

/** `/model `, `/add-`: the beginning of all lines with a command. */
function headOf({ name }: Command): string {
  const [head = '', parameter] = name.split(/<[^>]*>/);
  return parameter === undefined ? `/${head} ` : `/${head}`;
}

function linesOf(
  command: Command,
  head: string,
  { context, typed }: { readonly context: CompletionContext; readonly typed: string },
): readonly string[] {
  const complete = command.scope === 'owner' ? command.complete : undefined;
  const lines =
    complete === undefined ? [] : complete(context, typed).map((argument) => head + argument);
  // A command without its parameter is none.
  const alone = complete === undefined ? head.trimEnd() : head;
  return head.endsWith('-') ? lines : [alone, ...lines];
}

/** The command alone of a line: its arguments are shown once it is whole. */
function wordOf(line: string): string {
  return /^\S+\s?/.exec(line)?.[0] ?? line;
}

/** Returns the names of the registered chats that are not the owner's own, for Tab; of equal names each once. */
export function registeredNames({ store }: CompletionContext): readonly string[] {
  return store.groups
    .all()
    .filter(({ isMain }) => !isMain)
    .map(({ name }) => name.trim());
}

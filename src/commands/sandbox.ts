import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

/** No engine may have this name. */
const BUILD = 'build';

export const command = defineCommand({
  scope: 'owner',
  name: 'sandbox',
  topic: 'assistant',
  help: 'show what runs the agents; `/sandbox bubblewrap` uses bubblewrap if Docker is missing, `/sandbox docker` takes that back, `/sandbox build` tries a failed image again',
  complete: ({ engines }) => [...engines.map(({ name }) => name), BUILD],
  async run(context, argument) {
    const wanted = argument.trim().toLowerCase();
    if (wanted === '') return { kind: 'answer', text: await stateOf(context) };
    if (wanted === BUILD) return { kind: 'answer', text: buildAgain(context) };
    const engine = context.engines.find(({ name }) => name === wanted);
    if (engine === undefined) {
      const text = `“${argument.trim()}” is not a sandbox. Say ${listed(context.engines.map(({ name }) => `\`/sandbox ${name}\``))}.`;
      return { kind: 'answer', text };
    }
    context.store.engines.accept(engine.name);
    const said =
      engine.limits === 'process'
        ? `Agents may run in ${engine.name} where nothing better is there.`
        : `Agents run in ${listed(strongIn(context))}, or not at all.`;
    const text = `${said} ${await stateOf(context)} \`/retry all\` asks again what has failed.`;
    return { kind: 'answer', text };
  },
});

/** Lets an image be tried again whose build has failed. Agents that run keep theirs until a start. */
function buildAgain({ store: { engines } }: CommandContext): string {
  if (engines.failedBuild() === null) return 'No build of the image for agents has failed.';
  engines.noteFailedBuild(null);
  return engines.state()?.kind === 'ready'
    ? 'The image for agents is built again at the next start: say `/restart`.'
    : 'The image for agents is built again with the next message; `/retry all` asks again what has failed.';
}

/** Engines that hold a whole container to its limits. */
function strongIn({ engines }: CommandContext): readonly string[] {
  return engines.filter(({ limits }) => limits === 'container').map(({ name }) => name);
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ');
}

async function stateOf({ sandbox, settings }: CommandContext): Promise<string> {
  const set =
    settings.sandbox === null ? '' : ` CLAW_SANDBOX in .env asks for ${settings.sandbox}.`;
  return `Now: ${await sandbox()}.${set}`.replace('..', '.');
}

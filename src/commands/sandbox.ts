import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

const ENGINES = ['docker', 'podman', 'bubblewrap'] as const;

export const command = defineCommand({
  scope: 'owner',
  name: 'sandbox',
  help: 'what runs the agents; followed by `bubblewrap` they may run there where Docker is missing, by `docker` no longer',
  async run(context, argument) {
    const wanted = argument.trim().toLowerCase();
    if (wanted === '') return { kind: 'answer', text: await stateOf(context) };
    const engine = ENGINES.find((name) => name === wanted);
    if (engine === undefined) {
      const text = `“${argument.trim()}” is not a sandbox. Say \`/sandbox bubblewrap\` or \`/sandbox docker\`.`;
      return { kind: 'answer', text };
    }
    context.store.engines.accept(engine);
    const said =
      engine === 'bubblewrap'
        ? 'Agents may run in bubblewrap where nothing better is there.'
        : 'Agents run in Docker or podman, or not at all.';
    const text = `${said} ${await stateOf(context)} \`/retry\` asks again what has failed.`;
    return { kind: 'answer', text };
  },
});

async function stateOf({ sandbox, settings }: CommandContext): Promise<string> {
  const set =
    settings.sandbox === null ? '' : ` CLAW_SANDBOX in .env asks for ${settings.sandbox}.`;
  return `Now: ${await sandbox()}.${set}`.replace('..', '.');
}

import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

const USAGE =
  'Say `/devices`, or `/devices update <name>` to bring the programs of this tree onto one.';

export const command = defineCommand({
  scope: 'owner',
  name: 'devices',
  help: 'list the connected microcontrollers; `/devices update <name>` brings one new programs',
  async run(context, argument) {
    const [verb = '', name = '', ...more] = argument.split(/\s+/).filter((word) => word !== '');
    if (verb === '') return { kind: 'answer', text: await ask(context, { list: true }) };
    if (verb !== 'update' || name === '' || more.length > 0) return { kind: 'answer', text: USAGE };
    context.sayProgress(`Comparing the programs of ${name}`);
    return { kind: 'answer', text: await ask(context, { update: name }) };
  },
  look: (context) => ask(context, { list: true }),
});

/** Lets the service of the devices answer, since it knows who is there. */
async function ask({ callService }: CommandContext, request: object): Promise<string> {
  try {
    return String(await callService('chipclaw', request));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${reason}\n\n\`npx claw setup chipclaw\` names devices; \`/status\` says what runs.`;
  }
}

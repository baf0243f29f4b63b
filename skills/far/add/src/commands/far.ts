import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { FarRefused, FarState } from '../lib/far/far-state.ts';
import type { ChatPlace, MachineLook } from '../lib/machines.ts';
import type { Group } from '../store/store.ts';

const USAGE =
  'Say `/far` for a list, `/far add nas`, `/far drain nas`, `/far undrain nas`, `/far remove nas`, ' +
  '`/far sandbox nas bubblewrap`, `/far family on nas`, `/far family needs gpu` or `/far family home`.';

export const command = defineCommand({
  scope: 'owner',
  name: 'far',
  topic: 'assistant',
  help: 'your other computers: `/far add nas` prints a code for one; `/far family on nas` lets that chat run there, `/far family home` here',
  async run(context, argument) {
    try {
      return { kind: 'answer', text: await carryOut(context, argument.trim()) };
    } catch (error) {
      if (!(error instanceof FarRefused)) throw error;
      return { kind: 'answer', text: error.message };
    }
  },
});

async function carryOut(context: CommandContext, argument: string): Promise<string> {
  const words = argument === '' ? [] : argument.split(/\s+/);
  const [verb = 'list', name = ''] = words;
  const state = new FarState(context.settings.dataDir);
  if (verb === 'list' && words.length <= 1) return await listText(context, state);
  if (words.length === 2) {
    if (verb === 'add') return await add(context, state, name);
    if (verb === 'drain' || verb === 'undrain') return await drain(context, name, verb);
    if (verb === 'remove') {
      if (!state.remove(name)) throw new FarRefused(`No machine is called ${name}.`);
      return `${name} is out: its key opens nothing any more. Turns that ran there run again here.`;
    }
  }
  if (words.length === 3) {
    if (verb === 'add') return await add(context, state, name, words[2]);
    if (verb === 'sandbox') return letUse(state, name, words[2] ?? '');
  }
  return await place(context, argument);
}

/**
 * A code that nobody could use now is not made.
 *
 * @param key the machine's public key, which `claw far add --ssh` has from the machine itself: no code is needed
 */
async function add(
  context: CommandContext,
  state: FarState,
  name: string,
  key?: string,
): Promise<string> {
  if (state.isSetUp) {
    const problems = (await context.machines()).problems();
    if (problems.length > 0) throw new FarRefused(problems.join('\n'));
  }
  if (key === undefined) return addText(state.add(name, context.now()), name);
  state.admit(name, key);
  return `${name} may join with its own key.`;
}

/** A machine that has lost its better sandbox waits for this word. */
function letUse(state: FarState, name: string, engine: string): string {
  if (!state.letUse(name, engine.toLowerCase()))
    throw new FarRefused(`No machine is called ${name}.`);
  return `If ${name} waits for your word, it runs agents in ${engine.toLowerCase()} from now on.`;
}

function addText(code: string, name: string): string {
  return (
    `If you log in to ${name} by ssh, one command here does all: \`npx claw far add ${name} --ssh me@${name}\`.\n\n` +
    `Otherwise copy the file there that \`npx claw far pack\` writes here. Then run this on ${name} within 15 minutes:\n\n` +
    `\`\`\`\nnpx --yes -p "$PWD/patchclaw-worker.tgz" patchclaw-worker join ${code}\n\`\`\`\n\n` +
    'In a folder with Patchclaw and the skill `far`, `npx claw far join` and the code do the same. The code lets one machine in, once.'
  );
}

async function drain(
  context: CommandContext,
  name: string,
  verb: 'drain' | 'undrain',
): Promise<string> {
  const machines = await context.machines();
  if (!machines.drain(name, verb === 'drain'))
    throw new FarRefused(`No machine is called ${name}.`);
  return verb === 'drain'
    ? `${name} takes no new chat. Chats there move home with their next message.`
    : `${name} takes chats again.`;
}

/** Reads `<chat> on <machine>`, `<chat> needs <words>`, `<chat> home`. */
async function place(context: CommandContext, argument: string): Promise<string> {
  const [, chat = '', way = '', rest = ''] =
    /^(.+?)\s+(?:(on|needs)\s+(.+)|home)$/i.exec(argument) ?? [];
  if (chat === '') return USAGE;
  const group = groupOf(context, chat);
  const wish: ChatPlace = { machine: null, needs: [] };
  const { places } = context.store;
  if (way === '') {
    places.set(group.folder, wish);
    return `${group.name} runs here again, from its next message on.`;
  }
  if (way.toLowerCase() === 'needs') {
    const needs = rest
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean);
    places.set(group.folder, { ...wish, needs });
    return `${group.name} runs where there is ${needs.join(' and ')}, and here where no such machine is free.`;
  }
  const machine = rest.toLowerCase();
  const known = (await context.machines()).list().find(({ name }) => name === machine);
  if (known === undefined) throw new FarRefused(`No machine is called ${machine}. ${USAGE}`);
  places.set(group.folder, { ...wish, machine });
  const now = known.state === 'here' ? 'from its next message on' : `once ${machine} is here`;
  return (
    `${group.name} runs on ${machine}, ${now}. Whoever controls ${machine} can read this chat’s files and prompts. ` +
    'Without it the chat runs here.'
  );
}

function groupOf({ store }: CommandContext, chat: string): Group {
  const wanted = chat.toLowerCase();
  const groups = store.groups.all();
  const found =
    groups.find(({ folder }) => folder === wanted) ??
    groups.find(({ name }) => name.toLowerCase() === wanted);
  if (found === undefined)
    throw new FarRefused(`No chat is called “${chat}”. \`/groups\` lists them.`);
  return found;
}

async function listText(context: CommandContext, state: FarState): Promise<string> {
  if (!state.isSetUp) return 'No machine can join yet: run `npx claw far setup <address>` first.';
  const known = await context.machines();
  const machines = known.list();
  const chats = context.store.groups.all().flatMap(({ name, folder }) => {
    const { machine, needs } = context.store.places.of(folder);
    if (machine !== null) {
      const isKnown = machines.some((one) => one.name === machine);
      return [`- ${name}: on ${machine}${isKnown ? '' : ', which has not joined: it runs here'}`];
    }
    return needs.length > 0 ? [`- ${name}: where there is ${needs.join(' and ')}`] : [];
  });
  const lines = [...machines.map(machineLine), ...codesOf(state, context.now())];
  if (lines.length === 0)
    lines.push('No machine has joined. `/far add nas` prints a code for one.');
  const problems = known.problems();
  return [
    ...(problems.length > 0 ? [...problems, ''] : []),
    ...lines,
    ...(chats.length > 0 ? ['', 'Chats:', ...chats] : []),
  ].join('\n');
}

function codesOf(state: FarState, nowMs: number): readonly string[] {
  return state
    .read()
    .pending.filter(({ untilMs }) => untilMs > nowMs)
    .map(({ name, untilMs }) => {
      const minutes = Math.ceil((untilMs - nowMs) / 60_000);
      return `- **${name}**: has not joined yet, its code is good for ${minutes} min`;
    });
}

const STATES = { here: 'here', away: 'away', draining: 'takes no new chat' } as const;

function machineLine({
  name,
  state,
  description,
  abilities,
  running,
  capacity,
}: MachineLook): string {
  const has = abilities.length === 0 ? '' : `, has ${abilities.join(', ')}`;
  return `- **${name}**: ${STATES[state]}, ${description}, ${running} of ${capacity} chats${has}`;
}

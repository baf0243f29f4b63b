import { parseArgs } from 'node:util';
import { z } from 'zod';
import { addHook, newSecret, removeHook } from '../lib/webhook/edit.ts';
import {
  ACTIONS,
  HOOK_NAME,
  type Hook,
  hooksFile,
  readHooks,
  readServerAddress,
  SENDERS,
} from '../lib/webhook/hook.ts';
import { tryLines } from '../lib/webhook/try-line.ts';
import { defineSetup, type SetupContext, type SetupOutcome, SetupRefused } from './step.ts';

const USAGE =
  '[add NAME --group main --from token|signed|github --does turn|message --text "…" | show NAME | list | remove NAME]';
const NO_ADDRESS = 'http://127.0.0.1:PORT';

/** Makes, shows and removes the owner's webhooks. */
export const setup = defineSetup({
  name: 'webhook',
  help: 'let a program outside start a turn, or put a message into a chat, by HTTP',
  usage: USAGE,
  settings: z.object({}),
  currentState({ dataDir }) {
    const read = readHooks(dataDir);
    if (!read.ok) return read.problem;
    return read.hooks.length === 0 ? null : read.hooks.map(({ name }) => name).join(', ');
  },
  again: ['add'],
  run: setUpWebhook,
});

type Flags = { readonly [flag in 'group' | 'from' | 'does' | 'text']?: string | undefined };

async function setUpWebhook(context: SetupContext): Promise<SetupOutcome> {
  const { words, flags } = readArguments(context.args);
  const [verb = 'add', name = ''] = words;
  switch (verb) {
    case 'add':
      return await add(context, name, flags);
    case 'show':
      return show(context, find(context, name));
    case 'list':
      return list(context);
    case 'remove':
      find(context, name);
      refusing(() => removeHook(context.dataDir, name));
      return {
        summary: `${name} is removed: its address answers 404.`,
        data: { name },
        needsRestart: false,
      };
    default:
      throw new SetupRefused(`Say \`npx claw setup webhook ${USAGE}\`.`, { isWrongUse: true });
  }
}

function readArguments(args: readonly string[]): {
  readonly words: readonly string[];
  readonly flags: Flags;
} {
  try {
    const text = { type: 'string' } as const;
    const options = { group: text, from: text, does: text, text };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { words: positionals, flags: values };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupRefused(`${reason} Say \`npx claw setup webhook ${USAGE}\`.`, {
      isWrongUse: true,
    });
  }
}

/** Asks only for values that are not on the command line. With a name there, the rest has its usual value. */
async function add(context: SetupContext, given: string, flags: Flags): Promise<SetupOutcome> {
  const { dataDir } = context;
  const isAsked = given === '';
  const answer = async (flag: keyof Flags, usual: string, message: string, check: Check) => {
    const value = flags[flag] ?? (isAsked ? null : usual);
    if (value === null) {
      const proposal = usual === '' ? {} : { proposed: usual };
      return (await context.ask({ message, ...proposal, check })).trim();
    }
    const problem = check(value);
    if (problem !== null) throw new SetupRefused(problem, { isWrongUse: true });
    return value.trim();
  };
  const checkName = (typed: string): string | null => nameProblem(dataDir, typed.trim());
  const name = isAsked
    ? (
        await context.ask({ message: 'A short name: its address ends with it', check: checkName })
      ).trim()
    : given;
  const problem = checkName(name);
  if (problem !== null) throw new SetupRefused(problem, { isWrongUse: true });
  const group = await answer(
    'group',
    'main',
    'The folder of the group that it is for (/groups lists them)',
    groupProblem,
  );
  const from = await answer('from', 'token', `Who calls it: ${SENDERS.join(', ')}`, oneOf(SENDERS));
  const does = await answer(
    'does',
    'turn',
    `What it starts: ${ACTIONS.join(' or ')}`,
    oneOf(ACTIONS),
  );
  const asks = does === 'turn' ? 'What the agent should do then' : 'The text of the message';
  const places =
    does === 'turn'
      ? '{{a.b}} names what was sent there, which the agent reads as a quotation'
      : '{{a.b}} is what was sent there';
  const text = await answer(
    'text',
    '',
    `${asks}; ${places} (leave it empty for the usual text)`,
    () => null,
  );
  const sender = SENDERS.find((one) => one === from) ?? 'token';
  const hook: Hook = {
    name,
    group,
    from: sender,
    does: ACTIONS.find((one) => one === does) ?? 'turn',
    secret: newSecret(sender),
    text: text === '' ? null : text,
  };
  refusing(() => addHook(dataDir, hook));
  const { data } = show(context, hook);
  return {
    summary: `${name} is made, and works where the assistant runs. Its secret is in ${hooksFile(dataDir)} and above.`,
    data,
    needsRestart: false,
  };
}

type Check = (typed: string) => string | null;

/** Shows what the sender needs, with the lines to try it. */
function show({ dataDir, say }: SetupContext, hook: Hook): SetupOutcome {
  const { name, group, does, from, secret } = hook;
  const known = readServerAddress(dataDir);
  const address = `${known ?? NO_ADDRESS}/hooks/${name}`;
  const start = does === 'turn' ? 'starts a turn in' : 'puts a message into';
  say(`${name} ${start} ${group}.`);
  say(`Address: ${address}`);
  say(`${from === 'token' ? 'Token' : 'Secret'}: ${secret}`);
  say('Try it from this machine:');
  say(tryLines(hook, known ?? NO_ADDRESS).replace(/^/gm, '  '));
  if (known === null) {
    say(
      `The port is known once the assistant has run with this skill: \`npx claw setup webhook show ${name}\` then tells it.`,
    );
  }
  const data = { name, group, does, from, address };
  return { summary: `${name} is at ${address}.`, data, needsRestart: false };
}

function list({ dataDir, say }: SetupContext): SetupOutcome {
  const hooks = hooksIn(dataDir);
  for (const { name, group, does, from } of hooks) {
    say(
      `- ${name}: ${does} in ${group}, called by ${from === 'github' ? 'GitHub' : `a program (${from})`}`,
    );
  }
  const names = hooks.map(({ name }) => name);
  const summary = names.length === 0 ? 'There are no hooks yet.' : `Hooks: ${names.join(', ')}.`;
  return { summary, data: { hooks: names }, needsRestart: false };
}

function find({ dataDir }: SetupContext, name: string): Hook {
  const hooks = hooksIn(dataDir);
  const found = hooks.find((hook) => hook.name === name);
  if (found !== undefined) return found;
  const names = hooks.map((hook) => hook.name).join(', ') || 'none';
  throw new SetupRefused(`There is no hook ${name}. There are: ${names}.`, { isWrongUse: true });
}

function hooksIn(dataDir: string): readonly Hook[] {
  const read = readHooks(dataDir);
  if (!read.ok) throw new SetupRefused(`${read.problem} Mend it first.`);
  return read.hooks;
}

function nameProblem(dataDir: string, name: string): string | null {
  if (!HOOK_NAME.test(name)) return 'A name has small letters, digits and -, at most 32.';
  return hooksIn(dataDir).some((hook) => hook.name === name)
    ? `There is a hook ${name} already. Remove it first, or take another name.`
    : null;
}

function groupProblem(typed: string): string | null {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(typed.trim())
    ? null
    : 'Type the folder of a group, such as main. /groups in the chat lists them.';
}

function oneOf(words: readonly string[]): Check {
  return (typed) => (words.includes(typed.trim()) ? null : `Type one of: ${words.join(', ')}.`);
}

function refusing(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw new SetupRefused(error instanceof Error ? error.message : String(error));
  }
}

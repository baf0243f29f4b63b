import { Argument, Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { groupVerbs, inPlainWords } from '../packages/claw/src/cli/command-line.ts';
import { DRY_RUNS, withoutChanges } from '../packages/claw/src/cli/dry-run.ts';
import { engineVerbs } from '../packages/claw/src/cli/engine/engine-verbs.ts';
import { mergeVerbs } from '../packages/claw/src/cli/merge/merge-verbs.ts';
import { assistantVerbs } from '../src/cli/assistant/assistant-verbs.ts';
import { discoverCommands, openCommands } from '../src/host/contracts/command.ts';

test('help puts every verb of the engine into a group that says what it is for', () => {
  const program = new Command();
  for (const define of Object.values(engineVerbs)) define(program, async () => {});
  groupVerbs(program);
  const others = program.commands.filter((command) => command.helpGroup() === 'The assistant:');
  expect(program.commands.length).toBeGreaterThan(20);
  expect(others.map((command) => command.name())).toEqual([]);
});

test('a verb is called as it is listed, since it alone is defined then', () => {
  const verbs = { ...engineVerbs, ...mergeVerbs, ...assistantVerbs };
  for (const [name, define] of Object.entries(verbs)) {
    const program = new Command();
    define(program, async () => {});
    expect(program.commands.map((command) => command.name())).toEqual([name]);
  }
});

/** The verbs with which a help text may begin. */
const ORDERS =
  /^(add|answer|ask|begin|bring|change|check|compare|connect|continue|discard|find|finish|forget|join|leave|let|link|list|merge|move|print|rate|rebuild|record|remove|repair|resolve|restore|save|set|show|speak|start|stop|take|talk|work|make)\b/;

test('each help text of a verb or a command begins with what it does, as an order', async () => {
  const program = new Command();
  for (const define of Object.values({ ...engineVerbs, ...mergeVerbs, ...assistantVerbs })) {
    define(program, async () => {});
  }
  const verbs = program.commands.map((one) => [`claw ${one.name()}`, one.description()] as const);
  const { commands } = openCommands(await discoverCommands(), {});
  const own = commands.map(({ name, help }) => [`/${name}`, help] as const);
  expect(own.length).toBeGreaterThan(20);
  expect([...verbs, ...own].filter(([, help]) => !ORDERS.test(help))).toEqual([]);
});

test('every verb of the engine says what --dry-run does with it', () => {
  expect(Object.keys(engineVerbs).sort()).toEqual(Object.keys(DRY_RUNS).sort());
});

test.each([
  ['apply a b --dry-run --json', 'plan apply a b --json'],
  ['--dry-run --cwd x remove remove', '--cwd x plan remove remove'],
  ['continue --dry-run', 'continue --prove'],
  ['status --dry-run', 'status'],
])('%s is %s', (typed, expected) => {
  const called = typed.split(' ').find((word) => Object.hasOwn(DRY_RUNS, word)) ?? null;
  expect(withoutChanges(typed.split(' '), called).join(' ')).toBe(expected);
});

test.each(['abort', 'resolve', 'recover', 'dev', 'resolutions', 'setup', 'of-a-skill'])(
  '%s has no dry run, and is refused',
  (verb) => {
    expect(() => withoutChanges([verb, '--dry-run'], verb)).toThrow(
      `claw ${verb} has no --dry-run`,
    );
  },
);

test.each([
  ['foo', '"foo" is none of the words that can stand here. There are: start, stop.'],
  ['start --proof most', '--proof does not take "most". There are: skills, all.'],
])('%s is refused in plain words, with those that can be said', (typed, words) => {
  const said: string[] = [];
  const program = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .addArgument(new Argument('<action>').choices(['start', 'stop']))
    .addOption(new Option('--proof <tests>').choices(['skills', 'all']))
    .configureOutput({ outputError: (text) => void said.push(inPlainWords(text)) });
  expect(() => program.parse(typed.split(' '), { from: 'user' })).toThrow();
  expect(said).toEqual([`error: ${words}\n`]);
});

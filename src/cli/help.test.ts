import { Command } from 'commander';
import { expect, test } from 'vitest';
import { engineVerbs } from './engine/engine-verbs.ts';
import { groupVerbs } from './help.ts';

test('help puts every verb of the engine into a group that says what it is for', () => {
  const program = new Command();
  for (const define of engineVerbs) define(program, async () => {});
  groupVerbs(program);
  const others = program.commands.filter((command) => command.helpGroup() === 'The assistant:');
  expect(program.commands.length).toBeGreaterThan(20);
  expect(others.map((command) => command.name())).toEqual([]);
});

import { expect, test } from 'vitest';
import { sectionTurn } from '../../src/testing/turn/agent-section-turn.ts';
import { section as memory } from './prompt/memory.ts';
import { section as place } from './prompt/place.ts';
import { type AgentSection, defineSection } from './prompt-section.ts';
import { createPromptWriter } from './system-prompt.ts';

test('a loop of its own sees neither the place of work nor a memory', async () => {
  for (const section of [place, memory]) {
    const write = section.create();
    expect(await write(sectionTurn({}))).toEqual(expect.any(String));
    expect(await write(sectionTurn({}, { isLoop: true }))).toBeNull();
  }
});

test('sections follow the host’s by order and name; one that throws is a line, and the others stand', async () => {
  const said = (name: string, order: number, text: string | null): AgentSection =>
    defineSection({ name, order, create: () => async () => text });
  const failing = defineSection({
    name: 'failing',
    order: 20,
    create: () => async () => {
      throw new Error('the shelf\nis empty');
    },
  });
  const sections = [said('late', 30, 'L'), failing, said('b', 10, 'B'), said('a', 10, 'A')];
  const parts = { frame: { system: 'You are Andy.' }, tools: [] };
  const prompts = createPromptWriter([...sections, said('none', 1, null)]);
  const rest = ['A', 'B', '(The section failing cannot be shown: the shelf)', 'L'].join('\n\n');
  expect(await prompts.forTurn(parts)).toBe(`You are Andy.\n\n${rest}`);
  expect(await prompts.forLoop(parts)).toBe(rest);
  expect(await createPromptWriter([]).forTurn(parts)).toBe('You are Andy.');
});

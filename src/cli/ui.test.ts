import { expect, test } from 'vitest';
import { frameLine } from './ui.ts';

test('a step that is at work stays on its line, however long its words are', () => {
  expect(frameLine('⠋ npm install', 40)).toBe('\r\u001b[K⠋ npm install');
  const line = frameLine(`⠋ test: ${'agent-skills, '.repeat(9)}`, 40);
  expect(line).toBe('\r\u001b[K⠋ test: agent-skills, agent-skills, ag…');
  expect(line.length - '\r\u001b[K'.length).toBe(39);
});

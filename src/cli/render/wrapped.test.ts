import { expect, test } from 'vitest';
import { doctorLines } from './doctor.ts';
import { renderText } from './render.ts';

const NARROW = { hasColours: false, columns: 40 };

test('a finding that is longer than the screen is broken between words, and stays in its column', () => {
  const finding = {
    area: 'providers',
    ok: true,
    message: 'none of openrouter, gemini, groq, deepseek is set up yet',
    advice: '`claw setup --provider <name>` sets one up.',
  };
  expect(doctorLines({ findings: [finding] }, NARROW)).toEqual([
    '! providers  none of openrouter, gemini,',
    '             groq, deepseek is set up',
    '             yet',
    '             `claw setup --provider',
    '             <name>` sets one up.',
    'All is well.',
  ]);
});

test('a summary and an error are broken between words on a screen, and whole in a pipe', () => {
  const summary = 'The agent may start sub-agents, at most 2 at once.\nmodel: set up';
  const error = { code: 'USAGE', message: 'Say which of these it shall be, and nothing else.' };
  const common = { outcome: 'done', changes: [], conflicts: [], warnings: [] } as const;
  const done = { ...common, verb: 'setup', data: { summary }, error: null } as const;
  expect(renderText(done, NARROW).out).toBe(
    'The agent may start sub-agents, at most\n2 at once.\nmodel: set up\n',
  );
  expect(renderText(done).out).toBe(`${summary}\n`);
  const failed = { ...common, verb: 'setup', data: null, error: error as never };
  expect(renderText(failed, NARROW).err).toBe(
    'USAGE: Say which of these it shall be,\nand nothing else.\n',
  );
});

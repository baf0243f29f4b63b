import { resolve } from 'node:path';
import { readStarters, type WrittenStarters, writeStarters } from './persona/starters.ts';
import { defineSetup, SetupRefused } from './step.ts';

/** The project, of which this file is a part. */
const PROJECT = resolve(import.meta.dirname, '../..');

/** Writes the files of a persona, to be filled in by the owner or in the first conversation. */
export const setup = defineSetup({
  name: 'persona',
  help: 'writes SOUL.md, IDENTITY.md, USER.md and the like, and lets the assistant get to know you',
  usage: '[--again]',
  again: ['--again'],
  currentState() {
    const there = readStarters(PROJECT);
    return there.length === 0 ? null : there.join(', ');
  },
  async run({ args }) {
    const unknown = args.filter((word) => word !== '--again');
    if (unknown.length > 0) {
      throw new SetupRefused(
        `\`npx claw setup persona\` knows --again, and not ${unknown.join(' ')}.`,
        {
          isWrongUse: true,
        },
      );
    }
    const result = writeStarters(PROJECT, args.includes('--again'));
    return { summary: summaryOf(result), data: result };
  },
});

function summaryOf({ written, kept }: WrittenStarters): string {
  const there = kept.length === 0 ? '' : ` Left as they are: ${kept.join(', ')}.`;
  if (written.length === 0) return `The files of the persona are there.${there}`;
  const next = written.some((path) => path.endsWith('BOOTSTRAP.md'))
    ? ' Say hello to the assistant: its first question is about you. Or fill the files in yourself.'
    : '';
  return `Written: ${written.join(', ')}.${there}${next}`;
}

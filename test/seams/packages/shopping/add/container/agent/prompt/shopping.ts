import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { defineSection } from '../prompt-section.ts';

export const section = defineSection({
  name: 'shopping',
  order: 850,
  facts: z.object({ most: z.number().default(0) }),
  create:
    () =>
    async ({ facts: { most }, places, isLoop }) => {
      if (isLoop || most === 0) return null;
      const list = await readFile(`${places.group}/shopping.md`, 'utf8').catch(() => '');
      const open = list.split('\n').filter((line) => line.startsWith('- [ ] '));
      return open.length === 0 ? null : ['# To buy', ...open.slice(0, most)].join('\n');
    },
});

import { z } from 'zod';
import { defineExamination, ok, problem } from './examination.ts';

export const examination = defineExamination({
  area: 'pigeon',
  order: 45,
  settings: z.object({ PIGEON_URL: z.url().optional() }),
  async examine({ isOffline }, { PIGEON_URL: loft }) {
    if (loft === undefined)
      return [ok('pigeon', 'no loft yet', '`npx claw setup pigeon` sets one.')];
    if (isOffline) return [ok('pigeon', `the loft is at ${loft}`)];
    const isThere = await fetch(loft).then(
      ({ ok }) => ok,
      () => false,
    );
    return isThere
      ? [ok('pigeon', 'the loft answers')]
      : [problem('pigeon', `${loft} does not answer`, 'Look whether the loft is open.')];
  },
});

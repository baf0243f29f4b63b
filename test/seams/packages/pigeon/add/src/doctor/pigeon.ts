import { z } from 'zod';
import { defineExamination, ill, well } from './examination.ts';

export const examination = defineExamination({
  area: 'pigeon',
  order: 45,
  settings: z.object({ PIGEON_URL: z.url().optional() }),
  async examine({ isOffline }, { PIGEON_URL: loft }) {
    if (loft === undefined) return [well('pigeon', 'no loft yet', '`claw setup pigeon` sets one.')];
    if (isOffline) return [well('pigeon', `the loft is at ${loft}`)];
    const isThere = await fetch(loft).then(
      ({ ok }) => ok,
      () => false,
    );
    return isThere
      ? [well('pigeon', 'the loft answers')]
      : [ill('pigeon', `${loft} does not answer`, 'Look whether the loft is open.')];
  },
});

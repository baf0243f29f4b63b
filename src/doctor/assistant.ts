import { lockHolder } from '../supervisor/instance-lock.ts';
import { type Examination, ok } from './examination.ts';

const AREA = 'assistant';

/** Tells whether an assistant runs on the data folder. */
export const examination: Examination = {
  area: AREA,
  order: 70,
  async examine({ dataDir }) {
    const holder = lockHolder(dataDir);
    if (holder !== null) return [ok(AREA, `runs${holder === '' ? '' : `, process ${holder}`}`)];
    const advice =
      '`npm start` starts it here, `npx claw service install` makes the system start it.';
    return [ok(AREA, 'does not run', advice)];
  },
};

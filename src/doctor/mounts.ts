import { readMountsFile } from '../sandbox/mounts/mounts-file.ts';
import { type Examination, ok, problem } from './examination.ts';

const AREA = 'mounts';

/** The owner's list of what else agents may see. */
export const examination: Examination = {
  area: AREA,
  order: 80,
  async examine({ settings }) {
    if (settings === null || settings.mountsFile === null) return [];
    try {
      const { length } = await readMountsFile(settings.mountsFile);
      if (length === 0) return [];
      return [
        ok(AREA, `${length === 1 ? '1 entry' : `${length} entries`} in ${settings.mountsFile}`),
      ];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return [problem(AREA, message, 'Until then nothing of that list is shared with any agent.')];
    }
  },
};

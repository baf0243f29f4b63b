import { Fleet } from '../lib/fleet/fleet.ts';
import { FleetBook } from '../lib/fleet/fleet-book.ts';
import type { Examination, Finding } from './examination.ts';
import { ok, problem } from './examination.ts';

const AREA = 'fleet';

/** Whether the instances that should run do. */
export const examination: Examination = {
  area: AREA,
  order: 63,
  async examine({ dataDir }): Promise<readonly Finding[]> {
    const book = new FleetBook(dataDir);
    if (!book.isThere) return [];
    const signal = new AbortController().signal;
    const now = () => 0;
    const fleet = new Fleet({ book, memory: '', projectDir: '', now, signal, progress: () => {} });
    const all = await fleet.list().catch((error: unknown) => String(Object(error).message));
    if (typeof all === 'string') return [problem(AREA, all, 'Install Docker, and start it.')];
    const down = all.filter(({ wish, isUp }) => wish === 'running' && !isUp);
    if (down.length === 0 && (await book.interrupted()) !== null) {
      return [
        problem(AREA, 'an upgrade was interrupted', 'See how far it came: `npx claw fleet`.'),
      ];
    }
    if (down.length === 0) return [ok(AREA, `${all.length} instances, as they should be`)];
    const names = down.map(({ name }) => name).join(', ');
    return [problem(AREA, `not running: ${names}`, 'Start them: `npx claw fleet wake <name>`.')];
  },
};

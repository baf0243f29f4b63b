import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type MarkCount, markCounts } from '../inbound-filters/sanitizer/mark-counts.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { databasesFolder } from '../store/own-databases.ts';
import { defineExamination, ok, problem } from './examination.ts';

const AREA = 'sanitizer';

/** Tells in how many messages the sanitizer has found something, and what. */
export const examination = defineExamination({
  area: AREA,
  order: 66,
  settings: z.object({}),
  async examine({ dataDir }) {
    const path = join(databasesFolder(dataDir), 'filter-sanitizer.db');
    if (!existsSync(path)) return [ok(AREA, 'has looked at no message yet')];
    let counts: readonly MarkCount[];
    try {
      const database = openReadOnly(path);
      try {
        counts = markCounts(database);
      } finally {
        database.close();
      }
    } catch (error) {
      return [problem(AREA, `its counts cannot be read: ${String(error)}`, `Look at ${path}.`)];
    }
    if (counts.length === 0) return [ok(AREA, 'has marked no message yet')];
    const lastAt = Math.max(...counts.map((one) => one.lastAt));
    const each = counts.map(({ kind, messages }) => `${kind} ${messages}`).join(', ');
    const last = new Date(lastAt).toISOString().slice(0, 16).replace('T', ' ');
    return [ok(AREA, `messages marked: ${each}; the last one ${last} UTC`)];
  },
});

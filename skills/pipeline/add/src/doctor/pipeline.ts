import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PoolSettings } from '../lib/model-pools.ts';
import { counted } from '../lib/pipeline/count-words.ts';
import { PipelineSettings } from '../lib/pipeline/settings.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { defineExamination, type Finding, ok } from './examination.ts';

const AREA = 'pipeline';

/** Says what the pipeline has to choose among and to learn from. */
export const examination = defineExamination({
  area: AREA,
  order: 23,
  settings: PipelineSettings.extend(PoolSettings.shape),
  async examine({ dataDir }, { PIPELINE_LEARNING: learning, MODEL_POOLS: pools }) {
    if (learning === 'off') {
      return [ok(AREA, 'learning is off, the order of the pools holds')];
    }
    if (!pools.some(({ models }) => models.length > 1)) {
      const how = '`npx claw setup model-pools` names models that can stand in for each other.';
      return [ok(AREA, 'no pool has two models, so there is nothing to choose', how)];
    }
    return [learned(dataDir)];
  },
});

const Counts = z.object({ turns: z.int(), ratings: z.int() });

function learned(dataDir: string): Finding {
  const how = 'React to answers with 👍 or 👎, or say /good or /bad after one.';
  const path = join(dataDir, 'databases/service-pipeline.db');
  if (!existsSync(path)) return ok(AREA, 'nothing is learned yet', how);
  const database = openReadOnly(path);
  try {
    const row = database
      .prepare(
        'SELECT (SELECT count(*) FROM turns) AS turns, (SELECT count(*) FROM signals) AS ratings',
      )
      .get();
    const { turns, ratings } = Counts.parse(row);
    const found = `it has learned from ${counted(ratings, 'rating')} of ${counted(turns, 'turn')}`;
    return ratings === 0 ? ok(AREA, found, how) : ok(AREA, found);
  } finally {
    database.close();
  }
}

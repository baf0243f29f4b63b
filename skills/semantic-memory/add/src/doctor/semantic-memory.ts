import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { embedBy } from '../model/embeddings.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { chooseModel } from '../tools/semantic-memory/embedder.ts';
import { LOCAL, MemoryEnvironment } from '../tools/semantic-memory/settings.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'semantic memory';
const SET_UP = '`npx claw setup semantic-memory` tries a model and sets it.';
const ADD_MODEL =
  'Add the skill local-embeddings to find them by their meaning, or set a model by `npx claw setup semantic-memory`.';
const TIMEOUT_MS = 20_000;

/** The server of embeddings, and how many notes are kept. */
export const examination = defineExamination({
  area: AREA,
  order: 57,
  settings: MemoryEnvironment,
  async examine({ isOffline, environment, dataDir }, { EMBEDDING_MODEL: own }) {
    const { model, installed } = await chooseModel(own);
    const isHere = installed.some(({ name }) => name === model);
    const kept = keptIn(join(dataDir, 'databases/service-semantic-memory.db'));
    if (model === LOCAL) {
      return [ok(AREA, 'notes are found by words and parts of words', ADD_MODEL), ...kept];
    }
    if (isOffline && !isHere)
      return [ok(AREA, `embeddings by ${model}; its server was not asked`), ...kept];
    const texts = ['hello, how are you?'];
    const result = await embedBy(environment)({ model, texts, timeoutMs: TIMEOUT_MS });
    return result.kind === 'failed'
      ? [
          problem(
            AREA,
            `words alone are searched: ${result.message}`,
            isHere ? '`npm ci` installs its packages again.' : SET_UP,
          ),
          ...kept,
        ]
      : [ok(AREA, `${model} answers with ${result.vectors[0]?.length} numbers`), ...kept];
  },
});

const Kept = z.object({ notes: z.int(), waiting: z.int(), problem: z.string().nullable() });

function keptIn(path: string): readonly Finding[] {
  if (!existsSync(path)) return [];
  const database = openReadOnly(path);
  try {
    const row = database
      .prepare(`SELECT count(*) AS notes, count(*) FILTER (WHERE state = 0) AS waiting,
        (SELECT value FROM facts WHERE name = 'problem') AS problem FROM notes`)
      .get();
    const { notes, waiting, problem: last } = Kept.parse(row);
    const found = `${notes} notes are kept, ${waiting} of them wait for their vector`;
    return last === null
      ? [ok(AREA, found)]
      : [problem(AREA, `${found}: ${last}`, '`/recall` says whether that is over.')];
  } finally {
    database.close();
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyTroubles } from '../../store/key-troubles.ts';
import { openMeta } from '../../store/meta.ts';
import { openReadOnly } from '../../store/open-read-only.ts';
import { type Finding, problem } from '../examination.ts';

/** Tells of keys that are refused while other models answer. */
export function examineRefusedKeys(dataDir: string): readonly Finding[] {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return openKeyTroubles(openMeta(database))
        .all()
        .map(({ provider, message }) =>
          problem(
            'model',
            `the key of ${provider} was refused when it was last asked: ${message}`,
            `Set another one: \`npx claw setup --provider ${provider}\`. Other models answer until then.`,
          ),
        );
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read is told in its own area.
  }
}

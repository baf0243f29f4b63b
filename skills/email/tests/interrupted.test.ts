import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestProject } from '../../../src/testing/assistant.ts';
import { testInterruptions } from '../../../src/testing/turn/interrupted-turns.ts';
import { ADA } from './fixtures.ts';
import { mailsWith } from './mailing-scene.ts';

function queued({ dir }: TestProject): number {
  const database = new Database(join(dir, 'data/claw.db'), { readonly: true });
  const sql = "SELECT count(*) FROM outbox WHERE text = 'SIDE EFFECT'";
  const count = Number(database.prepare(sql).pluck().get());
  database.close();
  return count;
}

await testInterruptions(
  [
    {
      name: 'send_message',
      input: { text: 'SIDE EFFECT', group: ADA },
      result: 'Queued for',
      // What is queued once must also have gone out, as one mail.
      timesDone: (project) => {
        const mails = mailsWith('SIDE EFFECT', project).size;
        return mails === queued(project) ? mails : Number.NaN;
      },
    },
  ],
  join(import.meta.dirname, 'mailing-scene.ts'),
);

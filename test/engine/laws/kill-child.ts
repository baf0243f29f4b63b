import { flushCompileCache } from 'node:module';
import { z } from 'zod';
import { carryOut, contextAt } from './call.ts';
import { haltAt } from './halt.ts';

// A process of its own, so that it can be killed: carries one verb out, and dies at its n-th change.
const Message = z.object({
  root: z.string(),
  nth: z.number(),
  call: z.object({
    kind: z.enum(['apply', 'remove', 'upgrade', 'update', 'customize', 'rebase', 'undo', 'replay']),
    names: z.array(z.string()),
  }),
});

process.once('message', async (message) => {
  const { root, nth, call } = Message.parse(message);
  haltAt(root, nth, () => {
    // What was compiled is of use to the next process; the folder is not the codebase.
    flushCompileCache();
    process.kill(process.pid, 'SIGKILL');
  });
  await carryOut(contextAt(root), call).catch(() => {});
  process.exit(0);
});

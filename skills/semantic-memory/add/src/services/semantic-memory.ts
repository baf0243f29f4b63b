import { defineService } from '../host/contracts/service.ts';
import { serviceOf } from '../tools/semantic-memory/calls.ts';
import { chooseModel } from '../tools/semantic-memory/embedder.ts';
import { openMemory } from '../tools/semantic-memory/memory.ts';
import { MemoryEnvironment } from '../tools/semantic-memory/settings.ts';

/** Keeps the notes of files and chats ready to be found by their meaning. */
export const service = defineService({
  name: 'semantic-memory',
  settings: MemoryEnvironment.pick({ EMBEDDING_MODEL: true, RECALL_THRESHOLD: true }),
  async start({ settings: { EMBEDDING_MODEL: own, RECALL_THRESHOLD: threshold }, ...context }) {
    return serviceOf(openMemory({ ...context, ...(await chooseModel(own)), threshold }));
  },
});

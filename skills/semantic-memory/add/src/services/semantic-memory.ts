import { defineService } from '../host/contracts/service.ts';
import { openMemory } from '../tools/semantic-memory/memory.ts';
import { offerMemory } from '../tools/semantic-memory/running.ts';
import { MemoryEnvironment } from '../tools/semantic-memory/settings.ts';
import { statusLine } from '../tools/semantic-memory/status-line.ts';

/** Keeps the notes of files and chats ready to be found by their meaning. */
export const service = defineService({
  name: 'semantic-memory',
  settings: MemoryEnvironment.pick({ EMBEDDING_MODEL: true, RECALL_THRESHOLD: true }),
  start({ settings: { EMBEDDING_MODEL: model, RECALL_THRESHOLD: threshold }, ...context }) {
    const memory = openMemory({ ...context, model, threshold });
    offerMemory(context.dataDir, memory, context.signal);
    return { stop: () => {}, status: () => statusLine(memory.status()) };
  },
});

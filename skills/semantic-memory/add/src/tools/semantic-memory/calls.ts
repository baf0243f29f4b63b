import { z } from 'zod';
import type { RunningService } from '../../host/contracts/service.ts';
import type { CallService, ServiceCaller } from '../../host/contracts/service-call.ts';
import type { Memory, RecallWish } from './memory.ts';
import { SOURCE_KINDS } from './note.ts';
import { countedNotes, statusLine } from './status-line.ts';

const RecallRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('recall'), text: z.string(), isStrict: z.boolean() }),
  /** Counts the notes of these folders, for the owner. */
  z.object({ kind: z.literal('status'), folders: z.array(z.string()), isWhole: z.boolean() }),
  z.object({ kind: z.literal('rebuild') }),
]);

const Recalled = z.object({
  found: z.array(
    z.object({
      note: z.object({
        id: z.int(),
        folder: z.string(),
        kind: z.enum(SOURCE_KINDS),
        source: z.string(),
        place: z.int(),
        heading: z.string().nullable(),
        who: z.string().nullable(),
        saidAt: z.int().nullable(),
        text: z.string(),
      }),
      likeness: z.number().nullable(),
      share: z.number(),
    }),
  ),
  problem: z.string().nullable(),
});

/** Notes, best first, and why they were found by words alone, if so. */
export type Recalled = z.output<typeof Recalled>;

/** Makes the service of a memory. */
export function serviceOf(memory: Memory): RunningService {
  return {
    stop() {},
    status: () => statusLine(memory.status()),
    onCall: (request, caller) => answerCall(memory, request, caller),
  };
}

/** Answers a call of the service: a chat finds what its own folder has, and what is for all. */
async function answerCall(
  memory: Memory,
  request: unknown,
  { folder }: Pick<ServiceCaller, 'folder'>,
): Promise<unknown> {
  const asked = RecallRequest.parse(request);
  if (asked.kind === 'recall') {
    return await memory.recall({ folder, text: asked.text, isStrict: asked.isStrict });
  }
  if (asked.kind === 'status') {
    const each = asked.folders.map((one) => `- ${one}: ${countedNotes(memory.status(one).notes)}`);
    const state = memory.status(asked.isWhole ? undefined : folder);
    return [`${statusLine(state)}.`, '', ...each].join('\n');
  }
  memory.rebuild();
  return 'All vectors are made again, in the background. `/recall` says how far that is.';
}

/** Asks the memory, in the name of the chat whose way to the services this is. */
export async function recallBy(
  callService: CallService,
  wish: Omit<RecallWish, 'folder'>,
): Promise<Recalled> {
  return Recalled.parse(await callService('semantic-memory', { kind: 'recall', ...wish }));
}

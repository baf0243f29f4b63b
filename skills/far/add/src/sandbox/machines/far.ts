import { z } from 'zod';
import { wholeNumber } from '../../lib/setting-values.ts';
import { defineMachines } from './machines.ts';

/** The machines that have joined by `claw far join`. Nothing is loaded before `claw far setup`. */
export const machines = defineMachines({
  name: 'far',
  settings: z.object({
    FAR_PATIENCE_MINUTES: wholeNumber(1, 60).default(5),
    FAR_CHAT_MB: wholeNumber(1, 1_000_000).default(4_096),
    FAR_CHAT_FILES: wholeNumber(1, 100_000).default(50_000),
  }),
  create(context) {
    const { FAR_PATIENCE_MINUTES, FAR_CHAT_MB, FAR_CHAT_FILES } = context.settings;
    const patienceMs = FAR_PATIENCE_MINUTES * 60_000;
    const filesLimit = {
      bytes: FAR_CHAT_MB * 1024 ** 2,
      files: FAR_CHAT_FILES,
      settings: '`FAR_CHAT_MB`, `FAR_CHAT_FILES`',
    };
    const opening = import('./far/home.ts').then(({ openFarHome }) =>
      openFarHome({
        ...context,
        patienceMs,
        filesLimit,
        now: Date.now,
        elapsed: () => performance.now(),
      }),
    );
    let source: Awaited<typeof opening> = null;
    let problem: string | null = 'The server that machines dial is being started.';
    opening.then(
      (opened) => {
        source = opened;
        problem =
          'The server that machines dial starts with the assistant: say `/restart` (in a shell: `npx claw chat /restart`).';
      },
      (error: unknown) => {
        problem = `Other machines cannot be used: ${String(error)}`;
        context.onProgress(problem);
      },
    );
    return {
      problem: () => (source === null ? problem : (source.problem?.() ?? null)),
      list: () => source?.list() ?? [],
      drain: (name, isDraining) => source?.drain(name, isDraining) ?? false,
      async close() {
        const opened = await opening.catch(() => null);
        await opened?.close();
      },
    };
  },
});

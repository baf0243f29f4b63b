import { z } from 'zod';
import { wholeNumber } from '../../lib/setting-values.ts';
import { defineMachines } from './machines.ts';

/** The machines that have joined by `claw far join`. Nothing is loaded before `claw far setup`. */
export const machines = defineMachines({
  name: 'far',
  settings: z.object({ FAR_PATIENCE_MINUTES: wholeNumber(1, 60).default(5) }),
  create(context) {
    const patienceMs = context.settings.FAR_PATIENCE_MINUTES * 60_000;
    const opening = import('./far/home.ts').then(({ openFarHome }) =>
      openFarHome({
        ...context,
        patienceMs,
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

// Does nothing, and says how late its event loop was: what a busy machine costs everybody. A line on its input begins and
// ends a measurement, and the end is answered with milliseconds that 99 of 100 rounds keep.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

let loop: ReturnType<typeof monitorEventLoopDelay> | null = null;
for await (const _ of createInterface({ input: process.stdin })) {
  if (loop === null) {
    loop = monitorEventLoopDelay({ resolution: 5 });
    loop.enable();
    continue;
  }
  loop.disable();
  process.stdout.write(`${loop.percentile(99) / 1e6}\n`);
  loop = null;
}

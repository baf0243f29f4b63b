import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PlainReporter } from './test/reporter.ts';
import { LongestFirst } from './test/sequencer.ts';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'container/**/*.test.ts',
      'test/**/*.test.ts',
      'skills/*/tests/**/*.test.ts',
    ],
    exclude: ['node_modules', 'data', '.claw'],
    reporters: ['default', new PlainReporter()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // Most tests wait for processes that they started: one worker for each core would idle.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: LongestFirst },
  },
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PlainReporter } from './test/reporter.ts';
import { LongestFirst } from './test/sequencer.ts';

export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.ts',
      'src/**/*.test.ts',
      'container/**/*.test.ts',
      'test/**/*.test.ts',
      'skills/*/tests/**/*.test.ts',
    ],
    // Packages run where they are applied.
    exclude: ['**/node_modules/**', 'data', '.claw', 'test/seams/{packages,dashboard-packages}/**'],
    reporters: ['default', new PlainReporter()],
    // No test proves anything by these: they end a hang, and are out of reach for a machine that is
    // six times slower.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 10 } },
    // A failed command is told with all that it said.
    chaiConfig: { truncateThreshold: 0 },
    globalSetup: ['./test/scratch.ts'],
    // `npx vitest` is no reason for `claw` to name itself as npx does.
    env: { npm_lifecycle_event: '' },
    setupFiles: ['./test/patience.ts', './test/seeds.ts'],
    pool: 'forks',
    // Node reads the files itself, as it does in the product: nothing is transformed.
    experimental: { viteModuleRunner: false },
    // A worker loads a thousand modules at once: a young heap that begins larger is collected less often.
    // Of the engine tests load the sources, not what is built of them.
    execArgv: ['--min-semi-space-size=16', '--conditions=patchclaw-source'],
    // Most tests wait for processes that they started: one worker for each core would idle.
    maxWorkers: Math.max(6, availableParallelism()),
    sequence: { sequencer: LongestFirst },
  },
});

import { defineConfig } from 'vitest/config';
import { PlainReporter } from './test/reporter.ts';

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
  },
});

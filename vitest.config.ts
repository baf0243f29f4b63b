import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'container/**/*.test.ts',
      'test/**/*.test.ts',
      'skills/*/tests/**/*.test.ts',
    ],
    exclude: ['node_modules', 'data', '.claw'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});

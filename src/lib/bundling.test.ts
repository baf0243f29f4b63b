import { expect, test } from 'vitest';
import { withEsbuild } from './bundling.ts';

const built = (contents: string) =>
  withEsbuild(async ({ build }) => {
    const { outputFiles } = await build({ stdin: { contents, loader: 'ts' }, write: false });
    return outputFiles[0]?.text;
  });

test('the first one to finish does not end the bundles of others, and the next one starts esbuild again', async () => {
  const waits = Promise.withResolvers<void>();
  const slow = withEsbuild(async ({ build }) => {
    // Under way, and held there until the other one has ended.
    const { outputFiles } = await build({
      stdin: { contents: 'import "held"', loader: 'ts' },
      bundle: true,
      format: 'esm',
      write: false,
      plugins: [
        {
          name: 'held',
          setup(held) {
            held.onResolve({ filter: /^held$/ }, async () => {
              await waits.promise;
              return { path: 'held', external: true };
            });
          },
        },
      ],
    });
    return outputFiles[0]?.text;
  });
  expect(await built('let a: number = 1')).toBe('let a = 1;\n');
  waits.resolve();
  expect(await slow).toContain('import "held"');
  expect(await built('let b: number = 2')).toBe('let b = 2;\n');
});

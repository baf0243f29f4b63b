import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** Files of the bundle that others load, by what they are made of. */
export const ENTRIES = {
  claw: 'packages/claw/src/cli/main.ts',
  index: 'packages/claw/src/index.ts',
  cli: 'packages/claw/src/cli/index.ts',
  prompts: 'packages/claw/src/cli/prompts.ts',
};

/**
 * Builds the engine and its command line into plain JavaScript without dependencies: one file for each entry, those
 * that they share, and the parser.
 *
 * @param stamp digest of the sources, which caches of the engine are named by
 * @throws Error with esbuild's messages, where a source cannot be read
 */
export async function bundle(options: {
  readonly home: string;
  readonly outdir: string;
  readonly stamp: string;
  readonly entries: Readonly<Record<string, string>>;
}): Promise<Metafile> {
  const { home, outdir, stamp, entries } = options;
  const [{ metafile }] = await Promise.all([
    build({
      absWorkingDir: home,
      entryPoints: entries,
      outdir,
      bundle: true,
      splitting: true,
      chunkNames: 'part-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node22',
      // Without comments and indentation half of the text is left; names stay, for whoever reads a stack.
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 120,
      // By path: where packages are linked to another tree, that tree's merge would be built in.
      alias: {
        '@patchclaw/merge/raw': join(home, 'packages/merge/src/git/raw.ts'),
        '@patchclaw/merge/git': join(home, 'packages/merge/src/git/index.ts'),
        '@patchclaw/merge': join(home, 'packages/merge/src/index.ts'),
      },
      // The CommonJS form of jsonc-parser asks for its parts in a way that no bundler sees.
      mainFields: ['module', 'main'],
      banner: { js: REQUIRE },
      metafile: true,
      logLevel: 'silent',
      plugins: [parserBeside(), fixedStamp(stamp), englishOnly()],
    }),
    build({
      absWorkingDir: home,
      stdin: { contents: "export * from '@babel/parser';", resolveDir: home },
      outfile: join(outdir, 'parser.cjs'),
      bundle: true,
      format: 'cjs',
      platform: 'node',
      minify: true,
      logLevel: 'silent',
    }),
  ]);
  return metafile;
}

// Some libraries are CommonJS inside, and ask for Node's own modules by `require`.
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);";

/** Leaves the parser in a file of its own: it is loaded at the first conflict, and is half of the package. */
function parserBeside(): Plugin {
  return {
    name: 'parser-beside',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\/merge\/src\/syntax\/parse\.ts$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8').replace(
          "require('@babel/parser')",
          "require('./parser.cjs')",
        );
        if (!contents.includes('./parser.cjs')) throw new Error(`${path} asks for no parser`);
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Gives caches the digest of the engine's sources, since the bundle does not have them as files. */
function fixedStamp(stamp: string): Plugin {
  return {
    name: 'fixed-stamp',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\/claw\/src\/installed\/engine-stamp\.ts$/ }, () => ({
        contents: `export const engineStamp = () => ${JSON.stringify(stamp)};`,
        loader: 'js',
      }));
    },
  };
}

/** Leaves out zod's messages in some fifty languages, half of it. The English ones have another way. */
function englishOnly(): Plugin {
  return {
    name: 'english-only',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
    },
  };
}

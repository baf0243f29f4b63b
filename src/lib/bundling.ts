type Esbuild = typeof import('esbuild');

let atWork = 0;

/**
 * Lends esbuild to code that bundles something. Its process takes 70 MB, and ends with the last user: if the first
 * one ended it, the bundles of the others would fail.
 */
export async function withEsbuild<T>(work: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild');
  atWork += 1;
  try {
    return await work(esbuild);
  } finally {
    atWork -= 1;
    if (atWork === 0) await esbuild.stop();
  }
}

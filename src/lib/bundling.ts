type Esbuild = typeof import('esbuild');

let atWork = 0;

/**
 * Lends esbuild to whoever bundles something. Its process, which takes 70 MB, ends with the last of those that are at
 * work: ended by the first, it would take the others' bundles along.
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

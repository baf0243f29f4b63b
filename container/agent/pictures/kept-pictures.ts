import type { PictureForModel } from './picture.ts';

/** Reads a picture for a model. @throws Error with the reason as the end of a sentence */
export type ReadPicture = (path: string, signal?: AbortSignal) => Promise<PictureForModel>;

/**
 * Returns a reader that keeps the last pictures, which each turn of a conversation shows again, and decodes one at a
 * time: several large ones at once would fill the container's memory.
 */
export function keepPictures(read: ReadPicture, most = 8): ReadPicture {
  const kept = new Map<string, Promise<PictureForModel>>();
  let last: Promise<unknown> = Promise.resolve();

  function begin(path: string, signal?: AbortSignal): Promise<PictureForModel> {
    const picture = last.then(() => read(path, signal));
    last = picture.catch(() => kept.delete(path));
    return picture;
  }

  return (path, signal) => {
    const picture = kept.get(path) ?? begin(path, signal);
    // The one that was wanted last is the last to go.
    kept.delete(path);
    kept.set(path, picture);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return picture;
  };
}

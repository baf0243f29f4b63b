import { parentPort, workerData } from 'node:worker_threads';
import { mergeText } from '@patchclaw/merge';
import type { MergedTexts, MergeTask } from './merge-files.ts';

/** More than anybody is shown of the places in dispute. */
const MAX_SHOWN_CHARS = 10_000;

// Merges the versions of one file, for `mergeFile`, and ends.
const { path, ...texts }: MergeTask = workerData;
const { text, conflicts } = mergeText(texts, { path });
const merged: MergedTexts = {
  text: conflicts === 0 ? text : text.slice(0, MAX_SHOWN_CHARS),
  conflicts,
};
parentPort?.postMessage(merged);

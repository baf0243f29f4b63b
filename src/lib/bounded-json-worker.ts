import { parentPort, workerData } from 'node:worker_threads';
import { readJsonHere } from './bounded-json.ts';

// Reads one long JSON text, for `readJson`, and ends.
parentPort?.postMessage(readJsonHere(workerData.bytes, workerData.bounds));

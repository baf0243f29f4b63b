import { parentPort } from 'node:worker_threads';
import { startAnthropicServer } from '../../src/testing/model/anthropic.ts';
import { modelOfTheDay } from './model.ts';

// A thread of its own: the letters of 2,000 people's messages, which the test's other server encrypts, do not keep
// the model from answering for longer than an assistant waits.
const { url } = await startAnthropicServer(modelOfTheDay);
parentPort?.postMessage(url);

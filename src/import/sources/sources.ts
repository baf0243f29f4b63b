import type { Source } from '../items.ts';
import { nanoclawV1 } from './nanoclaw-v1.ts';
import { openclaw } from './openclaw.ts';

/** Every store that can be read, in the order in which a folder is looked at. */
export const SOURCES: readonly Source[] = [nanoclawV1, openclaw];

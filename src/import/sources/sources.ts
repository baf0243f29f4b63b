import type { Source } from '../items.ts';
import { hermes } from './hermes.ts';
import { clawft, nanobot } from './nanobot.ts';
import { nanoclawV1 } from './nanoclaw-v1.ts';
import { nanoclawV2 } from './nanoclaw-v2.ts';
import { openclaw } from './openclaw.ts';

/** Every store that can be read, in the order in which a folder is looked at. */
export const SOURCES: readonly Source[] = [
  nanoclawV1,
  nanoclawV2,
  openclaw,
  hermes,
  nanobot,
  clawft,
];

import type * as BaileysModule from '@whiskeysockets/baileys';
import { silenceLibsignal } from './quiet-libsignal.ts';

/** The library, loaded. */
export type Baileys = typeof BaileysModule;

/** Loads the library where it is needed: it takes a third of a second, which an unpaired assistant saves. */
export async function loadBaileys(): Promise<Baileys> {
  silenceLibsignal(console);
  return await import('@whiskeysockets/baileys');
}

import type * as BaileysModule from '@whiskeysockets/baileys';
import { speedUpLibsignal } from '../fast-verify.ts';
import { silenceLibsignal } from './quiet-libsignal.ts';

/** The library, loaded. */
export type Baileys = typeof BaileysModule;

/** Loads the library where it is needed: it takes a third of a second, which an unpaired assistant saves. */
export async function loadBaileys(): Promise<Baileys> {
  silenceLibsignal(console);
  speedUpLibsignal(import.meta.resolve('@whiskeysockets/baileys'));
  return await import('@whiskeysockets/baileys');
}

import type * as BaileysModule from '@whiskeysockets/baileys';

/** The library, loaded. */
export type Baileys = typeof BaileysModule;

/** Loads the library when it is needed. That takes a third of a second, which an unpaired assistant saves. */
export async function loadBaileys(): Promise<Baileys> {
  silenceLibsignal(console);
  return await import('@whiskeysockets/baileys');
}

const CONSOLE_METHODS = ['log', 'info', 'warn', 'error'] as const;
const silenced = new WeakSet<Console>();

/**
 * Keeps libsignal from writing sessions, private keys included, to the console.
 *
 * It prints whole session records with `console.info` and its like, and takes no logger. What comes from
 * its files is dropped; everybody else's output goes on as before. Calling it again changes nothing.
 */
export function silenceLibsignal(target: Console): void {
  if (silenced.has(target)) return;
  silenced.add(target);
  for (const method of CONSOLE_METHODS) {
    const print = target[method].bind(target);
    target[method] = (...data: unknown[]) => {
      if (!isLibsignal(new Error().stack)) print(...data);
    };
  }
}

function isLibsignal(stack: string | undefined): boolean {
  // The first line is the error, the second this wrapper: the third is who called the console.
  return /[/\\]libsignal[/\\]src[/\\]/.test(stack?.split('\n')[2] ?? '');
}

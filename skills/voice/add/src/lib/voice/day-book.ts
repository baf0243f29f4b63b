import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { VoiceError } from './failure.ts';
import type { VoiceSettings } from './settings.ts';

const Day = z.object({
  day: z.string(),
  seconds: z.number().nonnegative(),
  microDollars: z.number().nonnegative(),
});

/** Seconds that were heard and spoken on one day, and their price. */
export type VoiceDay = Readonly<z.output<typeof Day>>;

/** A piece of work that is to be done: its length and price. */
export type VoiceWork = { readonly seconds: number; readonly microDollars: number };

type Place = { readonly dataDir: string; readonly now: () => number };

/** Reads what was used today; nothing where the file is of another day, or cannot be read. */
export function usedToday({ dataDir, now }: Place): VoiceDay {
  const day = new Date(now()).toLocaleDateString('sv');
  const none = { day, seconds: 0, microDollars: 0 };
  try {
    const { data } = Day.safeParse(JSON.parse(readFileSync(fileIn(dataDir), 'utf8')));
    return data?.day === day ? data : none;
  } catch {
    return none;
  }
}

/**
 * Books a piece of work before it is done: what fails has often cost something too.
 *
 * @param pay called where the day has room for it; nothing is booked where it throws
 * @throws VoiceError DAY_IS_USED_UP
 */
export function book(
  place: Place,
  settings: VoiceSettings,
  work: VoiceWork & { readonly pay?: () => void },
): void {
  const used = usedToday(place);
  const seconds = used.seconds + work.seconds;
  const microDollars = used.microDollars + work.microDollars;
  const { VOICE_MINUTES_A_DAY: minutes, VOICE_DOLLARS_A_DAY: dollars } = settings;
  if (seconds > minutes * 60) {
    const text = `today’s ${minutes} minutes of voice are used up (VOICE_MINUTES_A_DAY)`;
    throw new VoiceError('DAY_IS_USED_UP', text);
  }
  if (microDollars > dollars * 1_000_000) {
    const text = `today’s $${dollars} for voice are used up (VOICE_DOLLARS_A_DAY)`;
    throw new VoiceError('DAY_IS_USED_UP', text);
  }
  work.pay?.();
  const path = fileIn(place.dataDir);
  mkdirSync(join(place.dataDir, 'voice'), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ day: used.day, seconds, microDollars });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'voice', 'day.json');
}

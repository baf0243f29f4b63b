import { stripVTControlCharacters } from 'node:util';
import { VoiceError } from './failure.ts';

/** Nobody says more in a second. */
const MOST_CHARACTERS_A_SECOND = 60;
const ALWAYS_FIT = 200;

/**
 * Makes plain text of what a recogniser has returned: without times, marks of silence and control characters.
 *
 * @param seconds the length of the note, which bounds what can be said in it
 * @throws VoiceError SILENT, GARBAGE
 */
export function plainWords(printed: string, seconds: number): string {
  const words = stripVTControlCharacters(printed)
    .replace(/\[[^\]\n]{0,60}-->[^\]\n]{0,60}\]/g, ' ')
    .replace(/\[[A-Z_ ]{2,30}\]|<[a-z/_]{2,12}>|\((?:silence|music|inaudible|noise)\)/gi, ' ')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(words)) throw new VoiceError('SILENT', 'no words can be heard in it');
  const broken = words.split('\u{FFFD}').length - 1;
  if (broken * 10 > words.length) throw garbage('is not text');
  if (words.length > ALWAYS_FIT + seconds * MOST_CHARACTERS_A_SECOND) {
    throw garbage(`is ${words.length} characters for ${Math.ceil(seconds)} s`);
  }
  return words;
}

function garbage(what: string): VoiceError {
  return new VoiceError('GARBAGE', `what came back ${what}, so it is not a transcript`);
}

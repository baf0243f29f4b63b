import { usedToday } from '../lib/voice/day-book.ts';
import { findProgram } from '../lib/voice/program.ts';
import { cannotBeReached, hostOf } from '../lib/voice/server.ts';
import {
  type Listening,
  listeningBy,
  type Speaking,
  speakingBy,
  VoiceEnvironment,
  type VoiceServer,
} from '../lib/voice/settings.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'voice';
const SET_UP = '`npx claw setup voice` sets it up, and tries it.';
const ASK_MS = 10_000;

/** Looks whether what hears and what speaks is there, without having anything heard or spoken. */
export const examination = defineExamination({
  area: AREA,
  order: 46,
  settings: VoiceEnvironment,
  async examine({ isOffline, dataDir, now }, own) {
    const listening = listeningBy(own);
    const speaking = speakingBy(own);
    if (listening === null && speaking === null) return [ok(AREA, 'nothing hears yet', SET_UP)];
    const findings: Finding[] = [];
    if (listening !== null) findings.push(await examined('hears', listening, isOffline));
    if (speaking !== null) findings.push(await examined('speaks', speaking, isOffline));
    const { seconds, microDollars } = usedToday({ dataDir, now });
    if (seconds === 0) return findings;
    const minutes = (seconds / 60).toFixed(1);
    const used = `${minutes} of ${own.VOICE_MINUTES_A_DAY} minutes today, $${(microDollars / 1_000_000).toFixed(2)} of $${own.VOICE_DOLLARS_A_DAY}`;
    return [...findings, ok(AREA, used)];
  },
});

async function examined(
  does: string,
  by: Listening | Speaking,
  isOffline: boolean,
): Promise<Finding> {
  if (by.kind === 'program') {
    const { name, path } = findProgram(by.command);
    if (path !== null) return ok(AREA, `the program ${path} ${does}`);
    return problem(AREA, `the program ${name}, which ${does}, is not there`, SET_UP);
  }
  const host = hostOf(by);
  if (isOffline) return ok(AREA, `${by.model} at ${host} ${does}; it was not asked`);
  const wrong = await problemOf(by);
  return wrong === null
    ? ok(AREA, `${by.model} at ${host} ${does}`)
    : problem(AREA, `${host}, which ${does}, ${wrong}`, SET_UP);
}

/** Asks for the list of models, which costs nothing; a server without one has answered all the same. */
async function problemOf({ url, key }: VoiceServer): Promise<string | null> {
  try {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(ASK_MS);
    const response = await fetch(`${url}/models`, { headers, signal, redirect: 'error' });
    await response.body?.cancel();
    const { status } = response;
    if (status === 401 || status === 403) return `refuses the key (error ${status})`;
    return status >= 500 ? `is broken just now (error ${status})` : null;
  } catch (error) {
    return cannotBeReached(error);
  }
}
